"""Put a backup in the place of the database."""

import tempfile
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection, connections
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.errors import Conflict
from coordination.selectors.migrations import Migration, missing, unknown
from coordination.services.safekeeping import postgresql, sqlite
from coordination.services.safekeeping.files import written_whole


@dataclass(frozen=True, slots=True)
class Restored:
    """What was done: where the former database is kept, and whether migrations are missing."""

    aside: Path | None
    behind: bool


def restore(*, source: Path, replace: bool) -> Restored:
    """Check a backup, then make it the database; what was there is kept aside.

    Raises:
        Conflict: the backup is not sound or not ours, or the database is in use, or holds data
            and `replace` was not said. Nothing is changed then.
    """
    if not source.is_file():
        raise Conflict(_("there is no backup at {path}.").format(path=source))
    connections.close_all()
    if connection.vendor == "sqlite":
        return _restore_sqlite(source, replace)
    return _restore_postgresql(source, replace)


def _restore_sqlite(source: Path, replace: bool) -> Restored:
    path = Path(str(connection.settings_dict["NAME"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    if not sqlite.is_sqlite(source):
        raise _wrong_kind(source, is_other=postgresql.is_dump(source))
    if path.exists() and path.samefile(source):
        raise Conflict(_("{path} is the database itself.").format(path=source))
    if found := sqlite.problems(source):
        raise Conflict(
            _("the backup {path} is not sound: {problems}").format(
                path=source, problems="; ".join(found)
            )
        )
    applied = sqlite.migrations(source)
    _refuse_unknown(source, applied)
    # Before the lock: closing the file here would end it.
    if not replace and sqlite.holds_data(path):
        raise _holds_data(str(path))
    with sqlite.unused(path):
        new = path.with_name(f"{path.name}.restoring")
        new.unlink(missing_ok=True)  # of a restore that was killed
        with written_whole(new) as partial:
            sqlite.copy(source, partial)
        aside = sqlite.put_in_place(new, path)
    return Restored(aside, behind=bool(missing(applied)))


def _restore_postgresql(source: Path, replace: bool) -> Restored:
    if not postgresql.is_dump(source):
        raise _wrong_kind(source, is_other=sqlite.is_sqlite(source))
    postgresql.refuse_if_used()
    if not replace and postgresql.holds_data():
        raise _holds_data(str(connection.settings_dict["NAME"]))
    with tempfile.TemporaryDirectory(dir=settings.DATA_DIR, prefix="restoring-") as folder:
        script = Path(folder, "restore.sql")
        postgresql.script_of(source, script)
        applied = postgresql.migrations_in(script)
        _refuse_unknown(source, applied)
        aside = _put_aside() if postgresql.has_tables() else None
        postgresql.load(script)
    return Restored(aside, behind=bool(missing(applied)))


def _put_aside() -> Path:
    moment = timezone.localtime().strftime("%Y%m%d-%H%M%S-%f")
    aside = Path(settings.DATA_DIR, f"before-restore-{moment}.dump")
    with written_whole(aside) as partial:
        postgresql.dump(partial)
    return aside


def _refuse_unknown(source: Path, applied: Set[Migration]) -> None:
    if not applied:
        raise _not_ours(source)
    if newer := unknown(applied):
        raise Conflict(
            _("the backup {path} is from a newer version of Handoff (it has {app} {name}): "
              "update Handoff first.").format(path=source, app=newer[0][0], name=newer[0][1])
        )  # fmt: skip


def _not_ours(source: Path) -> Conflict:
    return Conflict(_("{path} is no backup of Handoff.").format(path=source))


def _wrong_kind(source: Path, *, is_other: bool) -> Conflict:
    if not is_other:
        return _not_ours(source)
    return Conflict(
        _("the backup {path} is from another kind of database: set or unset DATABASE_URL to "
          "restore it.").format(path=source)
    )  # fmt: skip


def _holds_data(database: str) -> Conflict:
    return Conflict(
        _("the database {database} holds data, or cannot be read: --replace keeps it aside and "
          "puts the backup in its place.").format(database=database)
    )  # fmt: skip
