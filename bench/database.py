"""A fresh database for each measure."""

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import psycopg

PROJECT = Path(__file__).resolve().parent.parent
OWN_VARIABLES = ("HANDOFF_", "MCP_", "DATABASE_URL", "REDIS_URL", "DJANGO_")

_number = itertools.count(1)


def named(folder: Path, url: str) -> Path:
    """Return a path that stands for a server's database: a file that holds its URL."""
    path = folder / "handoff.url"
    path.write_text(url)
    return path


def variables_of(database: Path) -> dict[str, str]:
    """Return the variables that lead a process to a database: a SQLite file, or a `.url` file."""
    if database.suffix == ".url":
        return {"DATABASE_URL": database.read_text()}
    return {"MCP_HANDOFF_DB": str(database)}


@contextmanager
def fresh_database(server: str = "") -> Iterator[Path]:
    """Yield a database with the schema and the first rows: SQLite's, or one on `server`."""
    with TemporaryDirectory(prefix="handoff-bench-") as name:
        folder = Path(name)
        with on_server(server, folder) if server else _in(folder) as path:
            inherited = {k: v for k, v in os.environ.items() if not k.startswith(OWN_VARIABLES)}
            subprocess.run(
                [sys.executable, PROJECT / "manage.py", "migrate", "--verbosity=0"],
                env=inherited | variables_of(path) | {"HANDOFF_DATA_DIR": name},
                check=True,
            )
            yield path


@contextmanager
def _in(folder: Path) -> Iterator[Path]:
    yield folder / "handoff.sqlite"


@contextmanager
def on_server(server: str, folder: Path, *, template: str = "") -> Iterator[Path]:
    """Yield a new database on a PostgreSQL server, or a copy of one; it is dropped at the end."""
    name = f"handoff_{os.getpid()}_{next(_number)}"
    copy = f" TEMPLATE {template}" if template else ""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}{copy}".encode())
    try:
        yield named(folder, urlsplit(server)._replace(path=f"/{name}").geturl())
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
