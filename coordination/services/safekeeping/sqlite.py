"""A SQLite file: copy it while it is in use, check it, put another in its place."""

import contextlib
import fcntl
import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.errors import Conflict

HEADER = b"SQLite format 3\x00"
PROBLEMS_SHOWN = 5
WAIT_SECONDS = 30.0
"""How long a copy waits for a moment to begin."""

ALIVE_BYTE = 128
"""The byte of a -shm file that each connection keeps locked while it lives (SQLite's WAL format,
"dead man switch"): it tells of every process, and works on a damaged database too."""

TELLING_TABLES = ("coordination_message", "coordination_event", "auth_user")
"""A database where these are empty holds nothing that somebody wrote."""


def copy(source: Path, target: Path) -> None:
    """Copy a database in use, as it is at one moment, to an empty file that needs no other.

    One step under one read transaction: in WAL mode it holds up no writer, and none makes it
    start again.

    Raises:
        Conflict: the source cannot be read, or the disk is full.
    """
    if not source.is_file():
        raise Conflict(_("there is no database at {path}.").format(path=source))
    try:
        with (
            contextlib.closing(_open(source, "rw")) as here,
            contextlib.closing(sqlite3.connect(target)) as there,
        ):
            # Until it has its name, nobody trusts the copy: it needs no journal.
            there.execute("PRAGMA journal_mode=OFF")
            there.execute("PRAGMA synchronous=OFF")
            here.backup(there, pages=-1)
            there.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise Conflict(
            _("{path} cannot be copied: {reason}.").format(path=source, reason=error)
        ) from error


def problems(path: Path) -> list[str]:
    """Return what SQLite's own checks find wrong with a file, a few at most."""
    try:
        with contextlib.closing(_open(path, "ro")) as database:
            found = database.execute(f"PRAGMA integrity_check({PROBLEMS_SHOWN})").fetchall()
            broken = [text for (text,) in found if text != "ok"]
            if not broken:
                orphans = database.execute("PRAGMA foreign_key_check").fetchmany(PROBLEMS_SHOWN)
                broken = [
                    _("{table} {id}: its row in {parent} is missing").format(
                        table=table, id=row, parent=parent
                    )
                    for table, row, parent, _number in orphans
                ]
            return broken
    except sqlite3.Error as error:
        return [str(error)]


def migrations(path: Path) -> set[tuple[str, str]]:
    """Return the migrations applied to a file; none if it is another program's."""
    try:
        with contextlib.closing(_open(path, "ro")) as database:
            database.execute("SELECT 1 FROM coordination_message LIMIT 1")
            return set(database.execute("SELECT app, name FROM django_migrations"))
    except sqlite3.Error:
        return set()


def holds_data(path: Path) -> bool:
    """Tell whether replacing a file could lose something: one that cannot be read may."""
    if not path.exists() or path.stat().st_size == 0:
        return False
    try:
        with contextlib.closing(_open(path, "rw")) as database:
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
            return any(
                database.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()  # noqa: S608
                for table in TELLING_TABLES
                if table in tables
            )
    except sqlite3.Error:
        return True


@contextlib.contextmanager
def unused(path: Path) -> Iterator[None]:
    """Keep every process away from a file.

    Raises:
        Conflict: one has it open.
    """
    with contextlib.ExitStack() as stack:
        maker = stack.enter_context(Path(f"{path}.lock").open("w"))
        try:
            # Nobody makes or migrates it meanwhile: `serve` and `runmcp` take the same lock.
            fcntl.flock(maker, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shared = Path(f"{path}-shm")
            if shared.exists():
                memory = stack.enter_context(shared.open("r+b"))
                fcntl.lockf(memory, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, ALIVE_BYTE)
        except OSError:
            raise Conflict(
                _("the database {path} is in use: stop the web process and every agent, "
                  "then try again.").format(path=path)
            ) from None  # fmt: skip
        yield


def put_in_place(new: Path, path: Path) -> Path | None:
    """Give a checked file the database's name; return where the old one went, if there was one.

    The old file goes first, then its log: a log left beside another file would be applied to it.
    A process killed in between leaves no database at `path`, and the old one aside.
    """
    aside = None
    if path.exists():
        _keep_rights(path, new)
        aside = _aside(path)
        path.rename(aside)
    for suffix in ("-wal", "-journal"):
        if (log := Path(f"{path}{suffix}")).exists():
            log.rename(f"{aside or _aside(path)}{suffix}")
    Path(f"{path}-shm").unlink(missing_ok=True)
    new.rename(path)
    return aside


def is_sqlite(path: Path) -> bool:
    """Tell a SQLite file by its first bytes."""
    with path.open("rb") as file:
        return file.read(len(HEADER)) == HEADER


def _keep_rights(old: Path, new: Path) -> None:
    """Let those who could use the old file use the new one, as far as we may say so."""
    found = old.stat()
    new.chmod(stat.S_IMODE(found.st_mode))
    with contextlib.suppress(PermissionError):
        os.chown(new, found.st_uid, found.st_gid)


def _aside(path: Path) -> Path:
    moment = timezone.localtime().strftime("%Y%m%d-%H%M%S-%f")
    return path.with_name(f"{path.name}.before-restore-{moment}")


def _open(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True,
                           timeout=WAIT_SECONDS)  # fmt: skip
