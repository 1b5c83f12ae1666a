"""The door for agents on other machines: who may come in, how much, how often, how long.

Behind it is the SDK's own Streamable HTTP, for the handshake versions and for 2026-07-28.
"""

import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import anyio.abc
from django.db.utils import Error
from django.utils.translation import gettext as _
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from coordination.errors import DomainError
from coordination.services import agent_tokens
from coordination.services.agent_tokens import Bearer
from mcp_bridge.crossing import in_database
from mcp_bridge.http.bridge import RemoteBridge, user_of
from mcp_bridge.http.pace import Pace
from mcp_bridge.http.refusals import Away, NotLetIn, TooFast, TooLarge, response
from mcp_bridge.readiness import explained
from mcp_bridge.stdio import MAX_LINE

BODY_MAX = MAX_LINE
"""Bytes in one message: as many as over stdio."""
SESSIONS_MAX = 1000
"""MCP sessions open at once in this process; 2026-07-28 has none."""
IDLE_SECONDS = 30 * 60
"""After which silence an MCP session is closed; a client then opens another by itself."""
RECHECK_SECONDS = 10.0
"""How soon an answer that goes on, such as an open stream, ends once its token is dead."""


@dataclass(frozen=True, slots=True)
class Serving:
    """What serves between start and stop."""

    bridge: RemoteBridge
    manager: StreamableHTTPSessionManager
    tasks: anyio.abc.TaskGroup


class RemoteAgents:
    """An ASGI application at one address; it serves while `serving` is entered."""

    def __init__(self, pace: Pace | None = None) -> None:
        self._pace = pace or Pace()
        self._serving: Serving | None = None

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Serve until the end of the block."""
        bridge = RemoteBridge()
        manager = StreamableHTTPSessionManager(
            bridge.server,
            max_request_body_size=BODY_MAX,
            max_sessions=SESSIONS_MAX,
            session_idle_timeout=IDLE_SECONDS,
        )
        async with manager.run(), anyio.create_task_group() as tasks:
            self._serving = Serving(bridge, manager, tasks)
            try:
                yield
            finally:
                await self.end()
                tasks.cancel_scope.cancel()

    async def end(self) -> None:
        """Take no further request, and end what would keep an answer open."""
        serving, self._serving = self._serving, None
        if serving is not None:
            await serving.bridge.end()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = Headers(scope=scope)
        try:
            serving = self._open(headers)
            key = key_of(headers)
            bearer = await self._let_in(key)
        except DomainError as refusal:
            await response(refusal)(scope, receive, send)
            return
        if bearer.unnoted:
            serving.tasks.start_soon(note_use, bearer)
        answer = Answer(send)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cut_off_when_dead, key, answer, tasks.cancel_scope)
            await serving.manager.handle_request(
                {**scope, "user": user_of(bearer)}, receive, answer.send
            )
            tasks.cancel_scope.cancel()
        if answer.cut_off:
            await answer.end(scope, receive)

    def _open(self, headers: Headers) -> Serving:
        """Return what serves, for a message that is not too large.

        Raises:
            Away, TooLarge: says so.
        """
        if self._serving is None:
            raise Away(_("Handoff is starting or stopping; try again in a moment."))
        declared = headers.get("content-length", "")
        if declared.isascii() and declared.isdecimal() and int(declared[:20]) > BODY_MAX:
            raise TooLarge(
                _("The message is too large: {maximum} bytes at most.").format(maximum=BODY_MAX)
            )
        return self._serving

    async def _let_in(self, key: str) -> Bearer:
        """Return whom a key lets in now.

        Raises:
            NotLetIn, TooFast, Away: says what to do.
        """
        try:
            bearer = await in_database(lambda: agent_tokens.authenticate(key=key))
        except Error as error:
            raise Away(explained(error).message) from error
        if bearer is None:
            raise dead_token()
        if seconds := self._pace.admit(bearer.token_id):
            raise TooFast(
                _("Too many requests under this token; wait a moment, then go on more slowly."),
                seconds=seconds,
            )
        return bearer


class Answer:
    """What has been sent of an answer, so that one that is cut off still ends."""

    def __init__(self, send: Send) -> None:
        self.cut_off = False
        self._send = send
        self._started = False
        self._ended = False

    async def send(self, message: Message) -> None:
        """Pass a message on."""
        self._started = True
        self._ended = message["type"] == "http.response.body" and not message.get("more_body")
        await self._send(message)

    async def end(self, scope: Scope, receive: Receive) -> None:
        """End an answer whose token died meanwhile."""
        if not self._started:
            await response(dead_token())(scope, receive, self._send)
        elif not self._ended:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


def key_of(headers: Headers) -> str:
    """Return the key that a request shows.

    Raises:
        NotLetIn: it shows none.
    """
    scheme, _space, key = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        raise NotLetIn(
            _(
                "Send an agent's token, made in the administration, in the header "
                "Authorization: Bearer …"
            )
        )
    return key.strip()


def dead_token() -> NotLetIn:
    """Return the refusal of a key that opens nothing."""
    refusal = NotLetIn(
        _("This agent's token is unknown, expired or revoked; have one made in the administration.")
    )
    refusal.data["fault"] = ', error="invalid_token"'
    return refusal


async def cut_off_when_dead(key: str, answer: Answer, work: anyio.CancelScope) -> None:
    """Cut off an answer that goes on once its token is dead."""
    while True:
        await anyio.sleep(RECHECK_SECONDS)
        with contextlib.suppress(Error):
            if await in_database(lambda: agent_tokens.authenticate(key=key)) is None:
                answer.cut_off = True
                work.cancel()


async def note_use(bearer: Bearer) -> None:
    """Record that a token was used; nobody waits for it, and a busy database may go without."""
    with contextlib.suppress(Error):
        await in_database(lambda: agent_tokens.note_use(token_id=bearer.token_id))
