"""What the database lacks, with the cure; run where a database is named: `check --database`."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage
from django.core.checks import Warning as Caution
from django.db import connections
from django.utils.translation import gettext as _

INDEX = "question_subject_pieces"
MAKE_INDEX = (
    f"CREATE INDEX {INDEX} ON coordination_message USING gin (subject_folded gin_trgm_ops)"
    " WITH (fastupdate = off) WHERE parent_id IS NULL"
)


def check_search(databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
    """Tell that search reads every question, and how to give it its index."""
    problems: list[CheckMessage] = []
    for alias in databases or ():
        connection = connections[alias]
        if connection.vendor != "postgresql":
            continue
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT to_regclass('coordination_message') IS NULL"
                f" OR to_regclass('{INDEX}') IS NOT NULL"
            )
            (fine,) = cursor.fetchone()
        if not fine:
            problems.append(
                Caution(
                    _("Search has no index on this PostgreSQL: it reads every question."),
                    hint=_("As an administrator of the database, run: {statements}").format(
                        statements=f"CREATE EXTENSION IF NOT EXISTS pg_trgm; {MAKE_INDEX};"
                    ),
                    id="handoff.W002",
                )
            )
    return problems
