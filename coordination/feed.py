"""Follow the event feed from one process, whichever process wrote to it.

A thread with its own database connection waits for a commit, reads the new events and hands
them over. SQLite is asked for its `data_version`, a counter that moves when another connection
commits; PostgreSQL wakes the thread with NOTIFY (see `coordination.events.append`), or is asked
at short intervals where a pooler stands in between.
"""

import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from django.conf import settings
from django.db import Error, connection

from coordination.events import CHANNEL
from coordination.models import Event
from coordination.selectors.events import events_after, last_event_id

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.02
"""Between two looks at SQLite's counter: a look costs about 10 microseconds."""

POOLER_POLL_SECONDS = 0.1
"""Between two reads through a pooler, which passes on no NOTIFY: each is one short query."""

QUIET_SECONDS = 1.0
"""A wait ends after this long without a commit: a missed wake-up costs no more."""

RETRY_SECONDS = 0.5
"""Before asking again a database that did not answer."""

LATE_SECONDS = 60.0
"""How long a skipped id may still appear, for readers that cannot see who is still writing."""

BATCH = 1000
"""Events read at once, and the ids below the first one that are looked at when a tail begins."""

SKIPPED_MAX = 10_000
"""Skipped ids kept in mind: more than writers leave open at once."""


class Waiter(Protocol):
    """Wait for commits on one engine."""

    def wait(self, stopping: threading.Event) -> None:
        """Return when something may have been committed, or after `QUIET_SECONDS` at most."""

    def close(self) -> None:
        """Let go of what it holds."""


class DataVersion:
    """SQLite's counter of commits by others."""

    def __init__(self) -> None:
        self._seen = -1

    def wait(self, stopping: threading.Event) -> None:
        """Look at the counter until it moves."""
        deadline = time.monotonic() + QUIET_SECONDS
        while not stopping.is_set() and time.monotonic() < deadline:
            with connection.cursor() as cursor:
                (version,) = cursor.execute("PRAGMA data_version").fetchone()
            if version != self._seen:
                self._seen = version
                return
            stopping.wait(POLL_SECONDS)

    def close(self) -> None:
        """Hold nothing."""


class Notifications:
    """PostgreSQL's NOTIFY, on a connection of its own: it listens as long as it is open.

    PgBouncer greets with a process number of its own making; in transaction mode it would give
    the LISTEN to a server connection that the next transaction does not get. Reading at short
    intervals serves there, unless HANDOFF_LISTEN_URL leads past it.
    """

    def __init__(self) -> None:
        parameters = connection.get_connection_params() | {"autocommit": True}
        if settings.LISTEN_URL:
            wait = parameters["connect_timeout"]
            parameters = {
                "conninfo": settings.LISTEN_URL,
                "connect_timeout": wait,
                "autocommit": True,
            }
        driver: Any = connection.Database  # type: ignore[attr-defined]  # psycopg
        with connection.wrap_database_errors:
            self._server = driver.connect(**parameters)
            (pid,) = self._server.execute("SELECT pg_backend_pid()").fetchone()
            self.direct = bool(pid == self._server.info.backend_pid)
            if self.direct:
                self._server.execute(f"LISTEN {CHANNEL}")
            else:
                self._server.close()

    def wait(self, stopping: threading.Event) -> None:
        """Take every notification that is there, after the first one came."""
        if not self.direct:
            stopping.wait(POOLER_POLL_SECONDS)
            return
        with connection.wrap_database_errors:
            if list(self._server.notifies(timeout=QUIET_SECONDS, stop_after=1)):
                list(self._server.notifies(timeout=0))

    def close(self) -> None:
        """Stop listening."""
        self._server.close()


class Tail(threading.Thread):
    """Call `deliver` with every new event, in the order of ids but for late commits.

    PostgreSQL hands out ids before commits, so that an id may appear below one already read. A
    skipped id is asked for again until every transaction that could have taken it has ended;
    `skipped` has, for each, the first transaction number that is too late to be its own.
    """

    def __init__(self, deliver: Callable[[list[Event]], None]) -> None:
        super().__init__(name="event-feed", daemon=True)
        self.deliver = deliver
        self.ready = threading.Event()
        self.stopping = threading.Event()
        self.last_id = 0
        self.skipped: dict[int, int | None] = {}

    def run(self) -> None:
        """Follow until `stop`; a database that fails is asked again, and nothing is missed."""
        while not self.stopping.is_set():
            try:
                self._follow()
            except Error as error:
                logger.warning("event feed: %s; asking again", str(error).split("\n")[0])
                self.stopping.wait(RETRY_SECONDS)
            finally:
                connection.close()

    def stop(self) -> None:
        """End the thread at its next look."""
        self.stopping.set()

    def _follow(self) -> None:
        """Read, then wait, for as long as the connection lasts."""
        # Listen first, read then: what is committed in between wakes nobody, and is read.
        waiter: Waiter = Notifications() if connection.vendor == "postgresql" else DataVersion()
        try:
            if not self.ready.is_set():
                self._begin()
            while not self.stopping.is_set():
                self._read()
                waiter.wait(self.stopping)
        finally:
            waiter.close()

    def _begin(self) -> None:
        """Begin after the newest event, with an eye on the ids below it that are not there yet."""
        newest = last_event_id()
        self.last_id = max(0, newest - BATCH)
        self._note_skips(event.pk for event in events_after(self.last_id, limit=BATCH + 1))
        self.last_id = max(self.last_id, newest)
        self.ready.set()

    def _read(self) -> None:
        """Deliver what is new, to the last event."""
        for _batch in itertools.count():
            ended = self._forgettable()
            found = events_after(self.last_id, also=list(self.skipped), limit=BATCH)
            for pk in [event.pk for event in found] + ended:
                self.skipped.pop(pk, None)
            if found:
                self._note_skips(event.pk for event in found)
                self.deliver(found)
            if len(found) < BATCH:
                return

    def _forgettable(self) -> list[int]:
        """Return the skipped ids that the next read finds or nobody ever will."""
        if not self.skipped:
            return []
        with connection.cursor() as cursor:
            cursor.execute(_RUNNING)
            oldest, upcoming = map(int, cursor.fetchone())
        ended = [pk for pk, bound in self.skipped.items() if bound is not None and bound <= oldest]
        # Whoever took an id had its transaction number by then: it is below the upcoming one.
        self.skipped.update((pk, upcoming) for pk, bound in self.skipped.items() if bound is None)
        return ended

    def _note_skips(self, ids: Iterable[int]) -> None:
        """Remember the ids between two events: they may still be committed."""
        for pk in ids:
            if pk > self.last_id:
                if connection.vendor == "postgresql":  # SQLite's one writer commits in order
                    gap = range(max(self.last_id + 1, pk - BATCH), pk)
                    self.skipped.update(dict.fromkeys(gap))
                self.last_id = pk
        for pk in list(itertools.islice(self.skipped, max(0, len(self.skipped) - SKIPPED_MAX))):
            del self.skipped[pk]


_RUNNING = """
    SELECT pg_snapshot_xmin(seen)::text, pg_snapshot_xmax(seen)::text
    FROM pg_current_snapshot() AS seen
"""
