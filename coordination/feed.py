"""Follow the event feed from one process, whichever process wrote to it.

A thread with its own database connection waits for a commit, reads the new events and hands
them over. SQLite is asked for its `data_version`, a counter that moves when another connection
commits; PostgreSQL wakes the thread with NOTIFY (see `coordination.events.append`).
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable

from django.db import Error, connection

from coordination.events import CHANNEL
from coordination.models import Event
from coordination.selectors.events import events_after, last_event_id

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.02
"""Between two looks at SQLite's counter: a look costs about 10 microseconds."""

RETRY_SECONDS = 0.5
"""Before asking again a database that did not answer."""

LATE_SECONDS = 60.0
"""How long a skipped id may still appear: its transaction began earlier and commits later."""


class Tail(threading.Thread):
    """Call `deliver` with every new event, in the order of ids but for late commits."""

    def __init__(self, deliver: Callable[[list[Event]], None]) -> None:
        super().__init__(name="event-feed", daemon=True)
        self.deliver = deliver
        self.ready = threading.Event()
        self.stopping = threading.Event()
        self.last_id = 0
        self.skipped: dict[int, float] = {}
        self.version = -1

    def run(self) -> None:
        """Follow until `stop`; a database that fails is asked again, and nothing is missed."""
        started = False
        while not self.stopping.is_set():
            try:
                if not started:
                    self._begin()
                    started = True
                self._wait()
                self._read()
            except Error as error:
                logger.warning("event feed: %s; asking again", str(error).split("\n")[0])
                connection.close()
                self.version = -1
                self.stopping.wait(RETRY_SECONDS)
        connection.close()

    def stop(self) -> None:
        """End the thread at its next look."""
        self.stopping.set()

    def _begin(self) -> None:
        self.last_id = last_event_id()
        self.ready.set()

    def _wait(self) -> None:
        """Return when something may have been committed, or after a second at most."""
        if connection.vendor == "postgresql":
            self._wait_for_notification()
            return
        deadline = time.monotonic() + 1
        while not self.stopping.is_set() and time.monotonic() < deadline:
            with connection.cursor() as cursor:
                (version,) = cursor.execute("PRAGMA data_version").fetchone()
            if version != self.version:
                self.version = version
                return
            self.stopping.wait(POLL_SECONDS)

    def _wait_for_notification(self) -> None:
        if self.version == -1:
            with connection.cursor() as cursor:
                cursor.execute(f"LISTEN {CHANNEL}")
            self.version = 0
            return  # what was committed before LISTEN woke nobody: read once
        notifications = connection.connection.notifies(timeout=1, stop_after=1)
        for _notification in notifications:
            pass

    def _read(self) -> None:
        self._forget_old_skips()
        found = events_after(self.last_id, also=list(self.skipped))
        if not found:
            return
        for event in found:
            self.skipped.pop(event.pk, None)
        self._note_skips(event.pk for event in found)
        self.deliver(found)

    def _note_skips(self, ids: Iterable[int]) -> None:
        """Remember the ids between two events: they may still be committed."""
        now = time.monotonic()
        for pk in ids:
            if pk > self.last_id:
                gap = range(max(self.last_id + 1, pk - 1000), pk)
                self.skipped.update((missing, now) for missing in gap)
                self.last_id = pk

    def _forget_old_skips(self) -> None:
        oldest = time.monotonic() - LATE_SECONDS
        self.skipped = {pk: at for pk, at in self.skipped.items() if at > oldest}
