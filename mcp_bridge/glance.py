"""Tell whether anybody may have committed, at the price of one system call and no query."""

import os
import time

from mcp_bridge.creation import database_path


class Glance:
    """Watch what moves when anyone commits to SQLite, this process included.

    A commit writes to the log beside the database, or to the database where there is no log.
    SQLite's own counter, `PRAGMA data_version`, would cost a turn in the database's thread, and
    leaves out what the asking connection commits. Another engine has no files here.
    """

    def __init__(self, *, patience: float) -> None:
        """Prepare to watch; files that seem still are taken at their word for `patience` seconds.

        Their clock is coarse: a commit could hide in the tick of another.
        """
        path = database_path()
        self._paths = () if path is None else (f"{path}-wal", str(path))
        self._patience = patience
        self._state: object = None
        self._at = 0.0

    def due(self) -> bool:
        """Tell whether to look at the database now; what is committed from here on is due again."""
        now, state = time.monotonic(), self._files()
        if state is not None and state == self._state and now - self._at < self._patience:
            return False
        self._state, self._at = state, now
        return True

    def forget(self) -> None:
        """Have the next question answered with yes: the look that was due has failed."""
        self._state = None

    def _files(self) -> object:
        for path in self._paths:
            try:
                found = os.stat(path)  # noqa: PTH116  many times a minute, in each process
            except OSError:
                continue
            return found.st_ino, found.st_size, found.st_mtime_ns
        return None
