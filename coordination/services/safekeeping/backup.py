"""Save the database while everybody goes on working."""

import time
from dataclasses import dataclass
from pathlib import Path

from django.db import connection
from django.utils.translation import gettext as _

from coordination.errors import Conflict
from coordination.services.safekeeping import postgresql, sqlite
from coordination.services.safekeeping.files import written_whole


@dataclass(frozen=True, slots=True)
class Saved:
    """A backup that was checked: its place, its bytes, the seconds it took."""

    path: Path
    size: int
    seconds: float


def backup(*, destination: Path) -> Saved:
    """Save the database to a new file, checked before it gets its name.

    Raises:
        Conflict: the file exists or cannot be written, or the database cannot be read whole.
    """
    begun = time.monotonic()
    with written_whole(destination) as partial:
        if connection.vendor == "sqlite":
            _save_sqlite(partial)
        else:
            _save_postgresql(partial)
    return Saved(destination, destination.stat().st_size, time.monotonic() - begun)


def _save_sqlite(partial: Path) -> None:
    source = Path(str(connection.settings_dict["NAME"]))
    sqlite.copy(source, partial)
    if found := sqlite.problems(partial):
        raise Conflict(
            _("the copy is not sound, so nothing was saved; the database itself may be damaged: "
              "run manage.py check_store. {problems}").format(problems="; ".join(found))
        )  # fmt: skip


def _save_postgresql(partial: Path) -> None:
    postgresql.dump(partial)
    postgresql.script_of(partial, Path("/dev/null"))
