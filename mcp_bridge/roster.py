"""The sessions that the tools list names, and the clients to tell when they change."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import anyio
from django.db.utils import Error
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged

from coordination.errors import DomainError
from coordination.models import Session
from coordination.selectors import sessions
from mcp_bridge.crossing import in_database
from mcp_bridge.glance import Glance
from mcp_bridge.readiness import Readiness

POLL_SECONDS = 1.5
"""How soon a new session shows in a running client."""
STILL_SECONDS = 30.0
"""How long the sessions are not read again while SQLite's files seem still."""
PATIENCE_SECONDS = 0.3
"""How long `tools/list` waits for the database; it must answer whatever its state."""
TELL_SECONDS = 1.0
"""How long a client that does not read may hold up the others."""
CLIENTS_MAX = 2000
"""Clients remembered, the latest ones: what a remote one leaves behind is not told to us."""


@dataclass(slots=True)
class Listener:
    """A client, and what the list that it has shows."""

    session: ServerSession
    listed: object


class Roster:
    """Read the sessions in one task, for everyone who wants to know them."""

    def __init__(self, readiness: Readiness) -> None:
        self.bus = InMemorySubscriptionBus()
        self._readiness = readiness
        self._glance = Glance(patience=STILL_SECONDS)
        self._sessions: Sequence[Session] = ()
        self._read = anyio.Event()
        self._wanted = anyio.Event()
        self._listeners: dict[str, Listener] = {}

    async def latest(self, client: str, session: ServerSession) -> Sequence[Session]:
        """Return the sessions as they are, or as last read while the database is in trouble.

        `client` is told over `session`, from now on, when the list that it gets is out of date.
        """
        read = self._read
        self._wanted.set()
        with anyio.move_on_after(PATIENCE_SECONDS):
            await read.wait()
        self._listeners.pop(client, None)
        self._listeners[client] = Listener(session, fingerprint(self._sessions))
        if len(self._listeners) > CLIENTS_MAX:
            del self._listeners[next(iter(self._listeners))]
        return self._sessions

    async def watch(self) -> None:
        """Follow the sessions, at a steady pace and whenever a list is asked for."""
        while True:
            before = fingerprint(self._sessions)
            await self._look()
            self._read.set()
            self._read = anyio.Event()
            if before != fingerprint(self._sessions):
                await self._tell(fingerprint(self._sessions))
            with anyio.move_on_after(POLL_SECONDS):
                await self._wanted.wait()
            self._wanted = anyio.Event()

    async def _look(self) -> None:
        if not self._glance.due():
            return
        try:
            await self._readiness.check(since=time.monotonic())
            self._sessions = await in_database(sessions.sessions)
        except DomainError:
            self._glance.forget()  # each call says so
        except Error as error:
            self._glance.forget()
            self._readiness.report(error)

    async def _tell(self, shown: object) -> None:
        """Tell the clients of either protocol era whose list of tools is out of date."""
        for listener in list(self._listeners.values()):
            if listener.listed != shown:
                listener.listed = shown
                with anyio.move_on_after(TELL_SECONDS):
                    await listener.session.send_tool_list_changed()
        await self.bus.publish(ToolsListChanged())


def fingerprint(rows: Sequence[Session]) -> object:
    """Return what a list of tools shows of the sessions."""
    return [(row.key, row.description) for row in rows]
