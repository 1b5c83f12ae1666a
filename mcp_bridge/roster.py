"""The sessions that the tools list names, and the clients to tell when they change."""

import time
from collections.abc import Sequence

import anyio
from django.db.utils import Error
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged

from coordination.errors import DomainError
from coordination.models import Session
from coordination.selectors import sessions
from mcp_bridge.crossing import in_database
from mcp_bridge.readiness import Readiness

POLL_SECONDS = 1.5
"""How soon a new session shows in a running client."""
PATIENCE_SECONDS = 0.3
"""How long `tools/list` waits for the database; it must answer whatever its state."""


class Roster:
    """Read the sessions in one task, for everyone who wants to know them."""

    def __init__(self, readiness: Readiness) -> None:
        self.bus = InMemorySubscriptionBus()
        self._readiness = readiness
        self._sessions: Sequence[Session] = ()
        self._read = anyio.Event()
        self._wanted = anyio.Event()
        self._listed: object = None
        self._client: ServerSession | None = None

    async def latest(self, client: ServerSession) -> Sequence[Session]:
        """Return the sessions as they are, or as last read while the database is in trouble.

        `client` is told from now on when the list that it gets is out of date.
        """
        read = self._read
        self._wanted.set()
        with anyio.move_on_after(PATIENCE_SECONDS):
            await read.wait()
        self._client = client
        self._listed = fingerprint(self._sessions)
        return self._sessions

    async def watch(self) -> None:
        """Follow the sessions, at a steady pace and whenever a list is asked for."""
        while True:
            await self._look()
            self._read.set()
            self._read = anyio.Event()
            if self._client is not None and self._listed != fingerprint(self._sessions):
                self._listed = fingerprint(self._sessions)
                await self._tell(self._client)
            with anyio.move_on_after(POLL_SECONDS):
                await self._wanted.wait()
            self._wanted = anyio.Event()

    async def _look(self) -> None:
        try:
            await self._readiness.check(since=time.monotonic())
            self._sessions = await in_database(sessions.sessions)
        except DomainError:
            pass  # each call says so
        except Error as error:
            self._readiness.report(error)

    async def _tell(self, client: ServerSession) -> None:
        """Tell a client of either protocol era that its list of tools is out of date."""
        await client.send_tool_list_changed()
        await self.bus.publish(ToolsListChanged())


def fingerprint(rows: Sequence[Session]) -> object:
    """Return what a list of tools shows of the sessions."""
    return [(row.key, row.description) for row in rows]
