"""The tools over HTTP: one server for every session, each request saying whose it is."""

from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from starlette.requests import Request

from coordination.errors import Conflict
from coordination.services.agent_tokens import Bearer
from mcp_bridge.crossing import in_database
from mcp_bridge.identity import Identity
from mcp_bridge.server import Bridge, Context, instructions
from plans.runner.folder import NO_FOLDER, needs_folder
from plans.runner.validation import Runner
from plans.selectors.tasks import TaskDetail


class RemoteBridge(Bridge):
    """The tools for the sessions of remote agents."""

    def __init__(self) -> None:
        super().__init__(Identity(""), Runner(in_database, folder_over_http))
        self.server.middleware.append(self._introduce)
        # No tool repeats an argument in a header: nothing to look up before each call.
        self.server.get_tool_input_schema = lambda _name: None

    def identity_of(self, context: Context) -> Identity:
        """Return the session that the request's token is bound to."""
        return Identity(asked_over(context).user.access_token.subject)

    def client_of(self, context: Context) -> str:
        """Return the MCP session; 2026-07-28 has none, and is told by subscription only."""
        return asked_over(context).headers.get(MCP_SESSION_ID_HEADER, "")

    async def _introduce(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Say to each session how it works here, and that it hears of changed tools."""
        result = await call_next(ctx)
        if ctx.method in {"initialize", "server/discover"} and isinstance(result, dict):
            result["instructions"] = instructions(self.identity_of(ctx))
            result["capabilities"]["tools"]["listChanged"] = True
        return result


def asked_over(context: Context) -> Request:
    """Return the HTTP request that carried a message."""
    request = context.request
    assert isinstance(request, Request)  # noqa: S101 - every message here came over HTTP
    return request


def user_of(bearer: Bearer) -> AuthenticatedUser:
    """Return a token as the SDK knows who asks: another one's MCP sessions are closed to it."""
    token = AccessToken(
        token="",
        client_id=f"agent-token-{bearer.token_id}",
        scopes=[],
        subject=bearer.session,
    )
    return AuthenticatedUser(token)


def folder_over_http(task: TaskDetail) -> Path:
    """Let a rule run that needs no folder; this machine is not the project's.

    Raises:
        Conflict: it needs the project's folder; says which command runs it there.
    """
    if not needs_folder(task.validation_mode, task.validation_rule):
        return NO_FOLDER
    shared = f"MCP_HANDOFF_DB={settings.SQLITE_PATH}"
    database = "DATABASE_URL=…" if settings.DATABASE_URL else shared
    raise Conflict(
        _(
            "the rule of step #{id} runs in the project's folder, never over HTTP. On the "
            "project's machine, have it validated through {command}, with the database of this "
            "site; the step stays current."
        ).format(
            id=task.id,
            command=f"`{database} MCP_PROJECT_CWD=… manage.py runmcp --session {task.project}`",
        ),
        code="no_project_folder",
    )
