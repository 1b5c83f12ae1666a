"""Which migrations the running code has, and which of them a database lacks."""

from collections.abc import Set
from functools import cache

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

Migration = tuple[str, str]


@cache
def known_migrations() -> frozenset[Migration]:
    """Return the migrations of the code that runs: they do not change while it does."""
    return frozenset(MigrationLoader(None).disk_migrations)


def applied_migrations() -> set[Migration]:
    """Return the migrations applied to the database; none where there are no tables."""
    return set(MigrationRecorder(connection).applied_migrations())


def missing(applied: Set[Migration]) -> list[Migration]:
    """Return what the code has and the database lacks: it is behind."""
    return sorted(known_migrations() - applied)


def unknown(applied: Set[Migration]) -> list[Migration]:
    """Return what the database has and the code lacks: a newer version of Handoff made it."""
    apps = {app for app, _name in known_migrations()}
    return sorted(found for found in applied - known_migrations() if found[0] in apps)
