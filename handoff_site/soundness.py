"""Whether the store is sound: the database's own checks, its schema, what it holds, its room."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.db import Error, connection
from django.utils.translation import gettext as _

from coordination.selectors import soundness as coordination
from coordination.selectors.migrations import applied_migrations, missing, unknown
from coordination.selectors.soundness import Finding, Weight
from coordination.services.safekeeping import sqlite
from plans.selectors import soundness as plans

APPS = ("coordination", "plans")
MEGABYTE = 1_000_000
WAL_MAX = 64 * MEGABYTE
"""Bytes; SQLite folds the log back at 4 MB unless somebody reads one moment for very long."""
ROOM_MIN = 200 * MEGABYTE


def check_store() -> list[Finding]:
    """Look at everything, from the outside in; what cannot be read ends the look."""
    found: list[Finding] = []
    looks = (_file, _schema, _constraints, coordination.findings, plans.findings)
    try:
        for look in looks:
            found.extend(look())
            if look in (_file, _schema) and any(f.weight is Weight.FAULT for f in found):
                return found
    except Error as error:
        reason = str(error).split("\n")[0]
        sentence = _("the database cannot be read: {reason}.").format(reason=reason)
        return [*found, Finding(Weight.FAULT, sentence)]
    if any(finding.weight is Weight.FAULT for finding in found):
        return found
    return [
        *found,
        Finding(Weight.SOUND, _("Messages, sessions, plans and steps: as they must be.")),
    ]


def _file() -> Iterator[Finding]:
    if connection.vendor == "sqlite":
        yield from _sqlite_file(Path(str(connection.settings_dict["NAME"])))
    else:
        yield from _postgresql_server()


def _sqlite_file(path: Path) -> Iterator[Finding]:
    if not path.is_file():
        yield Finding(
            Weight.FAULT,
            _("There is no database at {path}: restore a backup (manage.py restore), or check "
              "MCP_HANDOFF_DB.").format(path=path),
        )  # fmt: skip
        return
    for problem in (problems := sqlite.problems(path)):
        yield Finding(
            Weight.FAULT,
            _("{path}: {problem}.").format(path=path, problem=" ".join(problem.split())),
        )
    if problems:
        yield Finding(
            Weight.NOTE,
            _("A damaged file does not mend: restore the last backup (manage.py restore FILE "
              "--replace); the damaged one is kept aside."),
        )  # fmt: skip
        return
    size = path.stat().st_size
    yield Finding(
        Weight.SOUND,
        _("{path}: {size:.1f} MB, sound from end to end.").format(path=path, size=size / MEGABYTE),
    )
    yield from _log_and_room(path, size)


def _log_and_room(path: Path, size: int) -> Iterator[Finding]:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode")
        mode = cursor.fetchone()[0]
    if mode != "wal":
        yield Finding(
            Weight.NOTE,
            _("The database's journal mode is {mode}, not wal: readers and writers wait for each "
              "other. Is it on a network drive?").format(mode=mode),
        )  # fmt: skip
    log = Path(f"{path}-wal")
    if log.exists() and (length := log.stat().st_size) > WAL_MAX:
        yield Finding(
            Weight.NOTE,
            _("The log beside it has {size:.0f} MB: some process reads one moment for very "
              "long.").format(size=length / MEGABYTE),
        )  # fmt: skip
    free = shutil.disk_usage(path.parent).free
    if free < max(ROOM_MIN, 2 * size):
        yield Finding(
            Weight.NOTE,
            _("The disk has {free:.0f} MB left, too few for a backup beside the database.").format(
                free=free / MEGABYTE
            ),
        )


def _postgresql_server() -> Iterator[Finding]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('server_version'), current_setting('data_checksums'),"
            " pg_database_size(current_database())"
        )
        version, checksums, size = cursor.fetchone()
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE NOT convalidated"
            " UNION SELECT indexrelid::regclass::text FROM pg_index"
            " WHERE NOT indisvalid OR NOT indisready"
        )
        broken = [name for (name,) in cursor.fetchall()]
    yield Finding(
        Weight.SOUND,
        _("PostgreSQL {version}: {size:.1f} MB.").format(version=version, size=size / MEGABYTE),
    )
    if checksums != "on":
        yield Finding(
            Weight.NOTE,
            _("The server keeps no checksums, so it cannot tell a damaged page: see "
              "pg_checksums."),
        )  # fmt: skip
    for name in broken:
        yield Finding(
            Weight.FAULT,
            _("{name} is not valid: what it holds true was never checked.").format(name=name),
        )


def _schema() -> Iterator[Finding]:
    applied = applied_migrations()
    for app, name in missing(applied):
        yield Finding(
            Weight.FAULT,
            _("The migration {app} {name} is missing: run manage.py migrate.").format(
                app=app, name=name
            ),
        )
    for app, name in unknown(applied):
        yield Finding(
            Weight.FAULT,
            _("The migration {app} {name} is from a newer version of Handoff: update it here.")
            .format(app=app, name=name),
        )  # fmt: skip


def _constraints() -> Iterator[Finding]:
    """Compare with the models what the tables hold true: a table mended by hand may lack it."""
    lacking = []
    with connection.cursor() as cursor:
        for label in APPS:
            for model in apps.get_app_config(label).get_models():
                meta = model._meta
                there = connection.introspection.get_constraints(cursor, meta.db_table)
                named = (*meta.constraints, *meta.indexes)
                lacking += [rule.name for rule in named if rule.name not in there]
    for name in lacking:
        yield Finding(
            Weight.FAULT,
            _("The database lacks the rule or index {name}: it was changed by hand.").format(
                name=name
            ),
        )
    if not lacking:
        yield Finding(Weight.SOUND, _("Schema: every migration, rule and index is there."))
