"""Build the MCP server of one session."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
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

from mcp_bridge import VERSION
from mcp_bridge.calls import Calls
from mcp_bridge.identity import Identity
from mcp_bridge.readiness import Readiness
from mcp_bridge.roster import Roster
from mcp_bridge.tool import Tool
from mcp_bridge.tools import TOOLS

Context = ServerRequestContext[Any, Any]


class Bridge:
    """One session's tools, as handlers of the SDK's server."""

    def __init__(self, identity: Identity, tools: Sequence[Tool] = TOOLS) -> None:
        self._identity = identity
        self._tools = tools
        readiness = Readiness()
        self._calls = Calls(identity, readiness, tools)
        self._roster = Roster(readiness)
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

    def options(self) -> InitializationOptions:
        """Return what the handshake offers: tools, and word of their changes."""
        return self.server.create_initialization_options(NotificationOptions(tools_changed=True))

    def end_subscriptions(self) -> None:
        """End the subscriptions, the only requests that stay unanswered by design."""
        self._listen.close()

    @asynccontextmanager
    async def _lifespan(self, _server: Server[Any]) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._roster.watch)
            yield
            tasks.cancel_scope.cancel()

    async def _list_tools(
        self, context: Context, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        sessions = await self._roster.latest(context.session)
        key = self._identity.key
        return ListToolsResult(tools=[tool.declaration(key, sessions) for tool in self._tools])

    async def _call_tool(self, _context: Context, params: CallToolRequestParams) -> CallToolResult:
        return await self._calls.answer(params.name, params.arguments)

    async def _forgive(self, context: Context, call_next: CallNext) -> HandlerResult:
        """Answer a call whose shape the SDK would refuse with a protocol error."""
        if context.method == "tools/call" and context.request_id is not None:
            given = context.params or {}
            name, arguments = given.get("name"), given.get("arguments")
            if not isinstance(name, str) or not isinstance(arguments, dict | None):
                return await self._calls.answer(name, arguments)
        return await call_next(context)


def instructions(identity: Identity) -> str:
    """Return how an agent works here, in one short paragraph."""
    return _(
        "You work under the session {session} on a desk shared with people and other agents. "
        "Begin each turn with mf_inbox and answer what waits for you. Take your work from "
        "mf_next_step: one step at a time, the next ones are not shown. When a step is done call "
        "mf_validate_step; when you cannot go on, mf_block_step with the reason. When a step waits "
        "for a human's validation, stop there. Ask another session, or human, with mf_ask instead "
        "of guessing."
    ).format(session=identity.key or "?")
