"""Databases for tests that start processes: SQLite files, or PostgreSQL's where DATABASE_URL says.

A test holds a path. On SQLite it is the database; with DATABASE_URL set for the test run it is a
small file, `handoff.url`, that holds the URL of a database of its own.
"""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from bench.database import OWN_VARIABLES, PROJECT, on_server, variables_of

SERVER_URL = os.environ.get("DATABASE_URL", "")
"""Where the run's databases are made; empty for SQLite."""

sqlite_only = pytest.mark.skipif(
    bool(SERVER_URL), reason="about SQLite files: the run without DATABASE_URL has it"
)


def clean_environment(**extra: str) -> dict[str, str]:
    """Return this environment without Handoff's own variables, plus `extra`.

    A MCP_HANDOFF_DB that is one of PostgreSQL's stand-ins becomes its DATABASE_URL.
    """
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(OWN_VARIABLES)}
    if "MCP_HANDOFF_DB" in extra:
        extra = variables_of(Path(extra.pop("MCP_HANDOFF_DB"))) | extra
    return inherited | extra


@contextlib.contextmanager
def migrated(folder: Path) -> Iterator[Path]:
    """Yield a database with the schema and the first rows, for others to be copied from."""
    with on_server(SERVER_URL, folder) if SERVER_URL else _file(folder) as path:
        subprocess.run(
            [sys.executable, PROJECT / "manage.py", "migrate", "-v0"],
            env=clean_environment(MCP_HANDOFF_DB=str(path), HANDOFF_DATA_DIR=str(folder)),
            check=True,
            timeout=60,
        )
        if not SERVER_URL:
            # One file to copy: fold the write-ahead log back into it.
            with contextlib.closing(sqlite3.connect(path)) as database:
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        yield path


@contextlib.contextmanager
def copied(template: Path, folder: Path) -> Iterator[Path]:
    """Yield a copy of a database, in `folder`; PostgreSQL's is dropped at the end."""
    if SERVER_URL:
        name = urlsplit(template.read_text()).path.removeprefix("/")
        with on_server(SERVER_URL, folder, template=name) as path:
            yield path
    else:
        yield Path(shutil.copy(template, folder / "handoff.sqlite"))


def rows(database: Path, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """Return what a database holds, past every line of our own code."""
    if database.suffix != ".url":
        with contextlib.closing(sqlite3.connect(database)) as connection:
            found: list[tuple[Any, ...]] = connection.execute(query, values).fetchall()
            connection.commit()
            return found
    with psycopg.connect(database.read_text(), autocommit=True) as server:
        cursor = server.execute(query.replace("?", "%s").encode(), values or None)
        return cursor.fetchall() if cursor.description else []


def assert_intact(database: Path) -> None:
    """Check a SQLite file as a whole; PostgreSQL holds its constraints at every write."""
    if database.suffix != ".url":
        assert rows(database, "PRAGMA integrity_check") == [("ok",)]
        assert rows(database, "PRAGMA foreign_key_check") == []


@contextlib.contextmanager
def _file(folder: Path) -> Iterator[Path]:
    yield folder / "handoff.sqlite"
