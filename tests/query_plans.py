"""How the engine means to run a query: for tests that hold it to its indexes."""

from collections.abc import Callable

from django.db import connection


def know_the_tables(*tables: str) -> None:
    """Have PostgreSQL plan for a test's few rows as it would for very many; SQLite always does."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for table in tables:
                cursor.execute(f"ANALYZE {table}")
            cursor.execute("SET LOCAL random_page_cost = 1")
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_bitmapscan = off")


def plans_of(read: Callable[[], object]) -> list[str]:
    """Return the plan of each query; with its values bound, as it is run.

    Written out, they could match other indexes.
    """
    found: list[str] = []

    def explain(execute, sql, params, many, context):
        if sql.lstrip().startswith(("SELECT", "UPDATE")):
            found.append(_plan(sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        read()
    return found


def _plan(sql: str, params) -> str:
    if connection.vendor == "sqlite":
        rows = connection.connection.execute(
            f"EXPLAIN QUERY PLAN {sql.replace('%s', '?')}", params or ()
        )
        return "\n".join(row[3] for row in rows)
    with connection.connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (COSTS OFF) {sql}", params)
        return "\n".join(row[0] for row in cursor.fetchall())
