"""Make a SQLite database that is not there yet: once, whoever starts at the same time."""

import fcntl
import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.conf import settings
from django.db import connection

logger = logging.getLogger(__name__)

MANAGE_PY = Path(settings.BASE_DIR, "manage.py")

FileId = tuple[int, int]


def database_path() -> Path | None:
    """Return the SQLite file; None on another engine, or for tests' database in memory."""
    if connection.vendor != "sqlite":
        return None
    name = str(connection.settings_dict["NAME"])
    return None if "mode=memory" in name or name == ":memory:" else Path(name)


def file_id() -> FileId:
    """Tell one file from another that took its place; the same for what is no file."""
    path = database_path()
    if path is None:
        return 0, 0
    try:
        found = path.stat()
    except OSError:
        return -1, -1
    return found.st_dev, found.st_ino


def is_empty() -> bool:
    """Tell whether the SQLite file is absent or holds no table: nothing that one could lose."""
    path = database_path()
    if path is None or (path.exists() and not path.is_file()):
        return False
    if not path.exists() or path.stat().st_size == 0:
        return True
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=0.5)) as found:
            return found.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    except sqlite3.Error:
        return False  # in use, or not a database: the next look says which


def create() -> None:
    """Make the schema in a child process with the web side's settings: it owns tables too.

    One process makes it while the others wait for the lock, which the child holds as well: it
    outlives us if we are stopped halfway.
    """
    path = database_path()
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with creation_lock(path) as lock:
        if not is_empty():
            return
        logger.info("creating the database %s", path)
        subprocess.run(
            [sys.executable, str(MANAGE_PY), "migrate", "--no-input", "--verbosity=0"],
            env=os.environ | {"HANDOFF_ROLE": "web"},
            stdin=subprocess.DEVNULL,
            stdout=2,  # a migration may print
            pass_fds=[lock],
            check=True,
        )


@contextmanager
def creation_lock(path: Path) -> Iterator[int]:
    """Be the only process that migrates the SQLite file `path`; yield the lock's descriptor."""
    with Path(f"{path}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()
