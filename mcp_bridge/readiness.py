"""Whether the database can serve a call, and what to tell an agent when it cannot.

A process starts, and says what its tools are, whatever the state of its database. Each call
asks here first, so that it can say what is wrong, and work once that is mended.
"""

import os
import shlex
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import anyio
from django.apps import apps
from django.db import connection
from django.db.utils import DatabaseError, Error, InterfaceError, OperationalError, ProgrammingError
from django.utils.translation import gettext as _

from coordination.errors import DomainError
from mcp_bridge.creation import MANAGE_PY, FileId, create, database_path, file_id, is_empty
from mcp_bridge.crossing import in_database

OWN_APPS = ("coordination", "plans")
CREATION_SECONDS = 45
"""How long a call waits while the schema is made, by this process or by another."""


class Unready(DomainError):
    """The database cannot serve calls now; the message says how to mend it."""

    http_status = 503
    code = "database"


class Locked(Unready):
    """Another program holds the write lock for longer than a call may wait."""


class Readiness:
    """The state of this process's database, looked at again after every trouble."""

    def __init__(self) -> None:
        self._looking = anyio.Lock()
        self._ready_file: FileId | None = None
        self._trouble: Unready | None = None
        self._trouble_at = 0.0

    async def check(self, *, since: float) -> None:
        """Return when the database can serve a call that came at `since` (monotonic).

        Raises:
            Unready: it cannot.
        """
        if self._ready_file is not None and self._ready_file == file_id():
            return
        try:
            with anyio.fail_after(CREATION_SECONDS):
                async with self._looking:
                    self.refuse_if_stuck(since=since)
                    await self._look()
        except TimeoutError:
            raise Unready(
                _("the database is still being created; try again in a moment.")
            ) from None

    def refuse_if_stuck(self, *, since: float) -> None:
        """Refuse a call that came before the latest trouble: it would meet the same.

        Calls take turns on one connection; without this, ten that meet a lock would wait ten
        times as long as one.
        """
        if self._trouble is not None and self._trouble_at >= since:
            raise self._trouble

    def report(self, error: Exception) -> Unready:
        """Translate a database error, and have the database looked at again."""
        trouble = explained(error)
        self._trouble, self._trouble_at = trouble, time.monotonic()
        if not isinstance(trouble, Locked):
            self._ready_file = None
        return trouble

    async def _look(self) -> None:
        if self._ready_file is not None and self._ready_file == file_id():
            return  # another call looked while this one waited
        try:
            if await anyio.to_thread.run_sync(is_empty):
                await anyio.to_thread.run_sync(create, abandon_on_cancel=True)
            seen = file_id()
            await in_database(look)
        except Unready:
            raise
        except (Error, OSError, subprocess.SubprocessError) as error:
            raise self.report(error) from error
        self._ready_file = seen


@cache
def own_migrations() -> frozenset[tuple[str, str]]:
    """Return the migrations of the code, by their files: the loader would import every one."""
    return frozenset(
        (label, file.stem)
        for label in OWN_APPS
        for file in Path(apps.get_app_config(label).path, "migrations").glob("[0-9]*.py")
    )


def look() -> None:
    """Look at the file that is there now, which may have taken the place of the one we knew."""
    connection.close()
    refuse_if_behind()


def refuse_if_behind() -> None:
    """Refuse a schema older than the code: migrating it is for a person to decide.

    Raises:
        Unready: migrations are missing.
    """
    with connection.cursor() as cursor:
        try:
            cursor.execute("SELECT app, name FROM django_migrations")
        except (OperationalError, ProgrammingError) as error:
            if "no such table" in str(error) or isinstance(error, ProgrammingError):
                connection.close()
                raise behind() from error
            raise
        applied = {(app, name) for app, name in cursor.fetchall()}
    if own_migrations() - applied:
        raise behind()


def behind() -> Unready:
    """Return the refusal of a schema that lacks migrations."""
    return Unready(
        _("the database is behind this version of Handoff; run: {command}").format(
            command=migrate_command()
        )
    )


def migrate_command() -> str:
    """Return the command line that migrates this very database, ready to paste.

    DATABASE_URL holds a password, which has no place in an agent's transcript.
    """
    path = os.environ.get("MCP_HANDOFF_DB", "").strip()
    chosen = f"MCP_HANDOFF_DB={shlex.quote(str(database_path()))} " if path else ""
    return f"{chosen}{shlex.quote(sys.executable)} {shlex.quote(str(MANAGE_PY))} migrate"


def explained(error: Exception) -> Unready:
    """Say what a database error means and what mends it, in none of the library's words."""
    text = str(error).lower()
    place = str(database_path() or _("the database server"))
    if any(sign in text for sign in ("locked", "busy", "lock timeout", "deadlock")):
        return Locked(
            _("the database is locked by another program; try again in a moment. ({place})").format(
                place=place
            )
        )
    if "no such table" in text or "no such column" in text or isinstance(error, ProgrammingError):
        return behind()
    if "disk is full" in text:
        return Unready(_("the disk is full; make room. ({place})").format(place=place))
    if isinstance(error, subprocess.SubprocessError):
        return Unready(
            _("the database could not be created; run: {command}").format(command=migrate_command())
        )
    if connection.vendor != "sqlite":
        return Unready(
            _("the database server does not answer; check DATABASE_URL, or try again in a moment.")
        )
    if (
        isinstance(error, OperationalError | InterfaceError | OSError)
        or type(error) is DatabaseError
    ):
        return Unready(
            _(
                "the database {place} cannot be read or written: check the file, its folder and "
                "MCP_HANDOFF_DB."
            ).format(place=place)
        )
    return Unready(_("the database refused this; nothing has changed."))
