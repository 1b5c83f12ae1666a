"""A PostgreSQL database: saved and put back by PostgreSQL's own programs."""

import os
import subprocess
from pathlib import Path

import psycopg
from django.db import connection
from django.utils.translation import gettext as _
from psycopg import sql

from coordination.errors import Conflict
from coordination.services.safekeeping.sqlite import TELLING_TABLES

HEADER = b"PGDMP"

_VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
    "connect_timeout": "PGCONNECT_TIMEOUT",
}
"""How libpq's programs are told of a server: not on their command line, which all can read."""


def dump(target: Path) -> None:
    """Save the database as it is at one moment, in pg_dump's compressed format."""
    _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={target}")


def script_of(dump_file: Path, script: Path) -> None:
    """Read a dump to its end, into the SQL that makes it again: a damaged one is refused here."""
    _run("pg_restore", "--clean", "--if-exists", "--no-owner", "--no-privileges",
         f"--file={script}", str(dump_file))  # fmt: skip


def load(script: Path) -> None:
    """Replace every table by the script's, in one transaction: all of it or nothing."""
    with _connect() as server:
        rows = server.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
        ).fetchall()
        tables = sql.SQL(", ").join(sql.Identifier(name) for (name,) in rows)
        drop = sql.SQL("DROP TABLE IF EXISTS {} CASCADE").format(tables).as_string(server)
    first = ["--command", drop] if rows else []
    _run("psql", "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1",
         "--output=/dev/null", *first, "--file", str(script))  # fmt: skip


def refuse_if_used() -> None:
    """Refuse while another process is connected to the database.

    Raises:
        Conflict: one is.
    """
    with _connect() as server:
        row = server.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        ).fetchone()
    if row and row[0]:
        raise Conflict(
            _("the database is in use ({count} connections): stop the web processes and every "
              "agent, then try again.").format(count=row[0])
        )  # fmt: skip


def has_tables() -> bool:
    """Tell whether there is anything to put aside."""
    with _connect() as server:
        query = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1"
        return server.execute(query).fetchone() is not None


def holds_data() -> bool:
    """Tell whether replacing the database could lose what somebody wrote."""
    with _connect() as server:
        for table in TELLING_TABLES:
            there = server.execute("SELECT to_regclass(%s)", [table]).fetchone()
            query = sql.SQL("SELECT 1 FROM {} LIMIT 1").format(sql.Identifier(table))
            if there and there[0] and server.execute(query).fetchone():
                return True
    return False


def migrations_in(script: Path) -> set[tuple[str, str]]:
    """Return the migrations that a script's database had; none if it is another program's."""
    found: set[tuple[str, str]] = set()
    columns: list[str] = []
    with script.open(errors="replace") as lines:
        for line in lines:
            if line.startswith("COPY public.django_migrations ("):
                columns = line.partition("(")[2].partition(")")[0].split(", ")
            elif columns and line.startswith("\\."):
                break
            elif columns:
                row = dict(zip(columns, line.rstrip("\n").split("\t"), strict=False))
                found.add((row["app"], row["name"]))
    return found if any(app == "coordination" for app, _name in found) else set()


def is_dump(path: Path) -> bool:
    """Tell a dump by its first bytes."""
    with path.open("rb") as file:
        return file.read(len(HEADER)) == HEADER


def _parameters() -> dict[str, str]:
    found = connection.get_connection_params()
    return {name: str(found[name]) for name in _VARIABLES if found.get(name)}


def _connect() -> psycopg.Connection:
    # Not Django's: its pool would count as others that use the database.
    try:
        return psycopg.connect(**_parameters(), autocommit=True)  # type: ignore[arg-type]
    except psycopg.OperationalError as error:
        raise Conflict(
            _("the database of DATABASE_URL does not answer: {reason}").format(
                reason=_last_line(str(error))
            )
        ) from error


def _run(program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs on this database, or say why it failed."""
    variables = {_VARIABLES[name]: value for name, value in _parameters().items()}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    try:
        subprocess.run(
            [program, *arguments],
            env=inherited | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            check=True,
        )
    except FileNotFoundError:
        raise Conflict(
            _("{program} is not installed: install PostgreSQL's client programs, of the "
              "server's version or newer (Debian: postgresql-client).").format(program=program)
        ) from None  # fmt: skip
    except subprocess.CalledProcessError as error:
        raise Conflict(
            _("{program} failed: {reason}").format(program=program, reason=_last_line(error.stderr))
        ) from error


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line.lower()), lines[-1] if lines else "?")
