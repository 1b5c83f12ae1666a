"""The connection class that Django looks for in a database engine's `base` module.

SQLite looks whether a busy file is free after 1, 2, 5, 10 ms and ever more rarely, down to every
100 ms: among many writers the one that has waited longest looks least often, and starves. Of 64
processes that write at once, some were still refused after five seconds. Here its patience is
short (BUSY_RETRY_SECONDS) and begun anew, so that everybody has the same chance, until
BUSY_TIMEOUT_SECONDS are over.
"""

import sqlite3
import time
from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.db.backends.sqlite3 import base

Result = TypeVar("Result")


def patiently(
    work: Callable[[], Result], may_retry: Callable[[], bool], deadline: float = 0.0
) -> Result:
    """Do `work`, again and again while the file is busy and our time is not up.

    Without a `deadline` (monotonic) the time is BUSY_TIMEOUT_SECONDS from the first refusal.
    """
    while True:
        try:
            return work()
        except sqlite3.OperationalError as error:
            # Extended codes keep the kind of error in their lowest byte.
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            now = time.monotonic()
            deadline = deadline or now + settings.BUSY_TIMEOUT_SECONDS
            if not busy or now > deadline or not may_retry():
                raise


class PatientCursor(base.SQLiteCursorWrapper):
    """A cursor that waits for its turn to write, from BEGIN or a statement of its own.

    Within a transaction nothing is tried again: it holds the write lock already, or it has read
    what is no longer so.
    """

    wrapper: "DatabaseWrapper"

    def execute(self, query: Any, params: Any = None) -> Any:
        """Execute one statement."""
        return patiently(
            lambda: base.SQLiteCursorWrapper.execute(self, query, params),
            self._free,
            self.wrapper.patient_until,
        )

    def executemany(self, query: Any, param_list: Any) -> Any:
        """Execute one statement for many rows, which may come from an iterator."""
        rows = list(param_list)
        return patiently(
            lambda: base.SQLiteCursorWrapper.executemany(self, query, rows),
            self._free,
            self.wrapper.patient_until,
        )

    def _free(self) -> bool:
        return not self.connection.in_transaction


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection of which every write gets its turn."""

    patient_until = 0.0
    """When (monotonic) the work under way must be over, if it has such a limit: a tool call's two
    writes then share one patience, of which the second may have what the first left."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect; the first commands of a connection may meet a busy file too."""
        connect = super().get_new_connection
        return patiently(lambda: connect(conn_params), lambda: True)

    def create_cursor(self, name: str | None = None) -> Any:
        """Return a patient cursor."""
        cursor = self.connection.cursor(factory=PatientCursor)
        cursor.wrapper = self
        return cursor
