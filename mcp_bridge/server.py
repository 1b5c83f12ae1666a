"""Build the MCP server."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from django.db.utils import Error
from django.utils.translation import gettext as _
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import ListenHandler
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)

from coordination.errors import DomainError
from mcp_bridge import VERSION
from mcp_bridge.calls import Calls
from mcp_bridge.crossing import in_database
from mcp_bridge.identity import Identity
from mcp_bridge.readiness import Readiness
from mcp_bridge.roster import Roster
from mcp_bridge.tools import all_tools
from mcp_bridge.tools.waiting import Waits
from plans.runner.validation import Runner
from plans.services.steps import expire_leases

Context = ServerRequestContext[Any, Any]


class Bridge:
    """The tools, as handlers of the SDK's server: here for the one session of a process."""

    def __init__(self, identity: Identity, runner: Runner | None = None) -> None:
        self._identity = identity
        self._runner = runner or Runner(in_database)
        self._waits = Waits()
        self._tools = all_tools(self._runner, self._waits)
        self._readiness = Readiness()
        self._calls = Calls(self._readiness, self._tools)
        self._roster = Roster(self._readiness)
        self._listen = ListenHandler(self._roster.bus)
        self.server: Server[Any] = Server(
            "handoff",
            version=VERSION,
            instructions=instructions(identity),
            lifespan=self._lifespan,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_subscriptions_listen=self._listen,
        )
        # In place of the SDK's tracing, which nothing here collects.
        self.server.middleware[:] = [self._forgive]

    def identity_of(self, _context: Context) -> Identity:
        """Return the session that a request works under."""
        return self._identity

    def client_of(self, _context: Context) -> str:
        """Return what tells the client of a request from the others."""
        return ""

    def options(self) -> InitializationOptions:
        """Return what the handshake offers: tools, and word of their changes."""
        return self.server.create_initialization_options(NotificationOptions(tools_changed=True))

    async def end(self) -> None:
        """End what would keep a request unanswered: subscriptions, waits and validations."""
        self._listen.close()
        self._waits.end()
        await self._runner.shutdown()

    @asynccontextmanager
    async def _lifespan(self, _server: Server[Any]) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._roster.watch)
            tasks.start_soon(self._recover)
            yield
            tasks.cancel_scope.cancel()

    async def _recover(self) -> None:
        """Fail the steps whose runner died; a trouble of the database is each call's to tell."""
        with suppress(DomainError, Error):
            await self._readiness.check(since=time.monotonic())
            await in_database(expire_leases)

    async def _list_tools(
        self, context: Context, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        sessions = await self._roster.latest(self.client_of(context), context.session)
        key = self.identity_of(context).key
        return ListToolsResult(tools=[tool.declaration(key, sessions) for tool in self._tools])

    async def _call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        return await self._answer(context, params.name, params.arguments)

    async def _answer(self, context: Context, name: Any, arguments: Any) -> CallToolResult:
        progress = context.session.report_progress
        return await self._calls.answer(self.identity_of(context), name, arguments, progress)

    async def _forgive(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Answer a call whose shape the SDK would refuse with a protocol error."""
        if ctx.method == "tools/call" and ctx.request_id is not None:
            given = ctx.params or {}
            name, arguments = given.get("name"), given.get("arguments")
            if not isinstance(name, str) or not isinstance(arguments, dict | None):
                return await self._answer(ctx, name, arguments)
        return await call_next(ctx)


def instructions(identity: Identity) -> str:
    """Return how an agent works here, in one short paragraph."""
    return _(
        "You work under the session {session} on a desk shared with people and other agents. "
        "Begin each turn with mf_inbox and answer what waits for you. Take your work from "
        "mf_next_step: one step at a time, the next ones are not shown. When a step is done call "
        "mf_validate_step; when you cannot go on, mf_block_step with the reason. When a step waits "
        "for a human's validation, stop there. Ask another session, or human, with mf_ask instead "
        "of guessing, and read the answers with mf_thread. When all you can do is wait, mf_wait "
        "answers as soon as something comes."
    ).format(session=identity.key or "?")
