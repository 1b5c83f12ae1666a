"""What every test shares: real processes, real files, bounded waiting."""

import importlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from django.apps import apps
from django.db import connection
from pytest_django import DjangoDbBlocker
from pytest_django.plugin import blocking_manager_key

from bench.database import PROJECT
from tests.databases import clean_environment, copied, migrated

__all__ = ["PROJECT", "clean_environment", "skip_or_fail", "wait_until"]


def wait_until(condition: Callable[[], object], *, seconds: float = 10, what: str = "") -> object:
    """Return the condition's first true value; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.01)
    raise AssertionError(f"not within {seconds} s: {what or condition}")


def skip_or_fail(reason: str) -> NoReturn:
    """Skip on a bare machine; fail where everything must run (CI sets the variable)."""
    if os.environ.get("HANDOFF_TEST_REQUIRE_ALL"):
        pytest.fail(f"this machine must be able to run every test: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(request: pytest.FixtureRequest) -> None:
    """Give each of PostgreSQL's parallel runs a database of its own, and no pool.

    Threads of the tests' event loops keep what they take of a pool. SQLite's test database is in
    memory, each process's own already.
    """
    if connection.vendor == "postgresql":
        request.getfixturevalue("django_db_modify_db_settings_parallel_suffix")
        connection.settings_dict["OPTIONS"].pop("pool", None)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Let go of what such threads still hold, so that PostgreSQL can drop the test database."""
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A database with the schema and the first rows, made once for a run: see `copied`."""
    with migrated(tmp_path_factory.mktemp("template")) as path:
        yield path


@pytest.fixture
def database_file(migrated_file: Path, tmp_path: Path) -> Iterator[Path]:
    """A fresh database that separate processes share; point them at it with MCP_HANDOFF_DB."""
    with copied(migrated_file, tmp_path) as path:
        yield path


def empties_every_table(item: pytest.Item) -> bool:
    """Whether the test is transactional, by fixture or by mark: such a test does so at its end."""
    mark = item.get_closest_marker("django_db")
    return "transactional_db" in getattr(item, "fixturenames", ()) or bool(
        mark and mark.kwargs.get("transaction")
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Put the first sessions back after a test that empties every table."""
    yield
    if nextitem is not None and empties_every_table(item):
        first = importlib.import_module("coordination.migrations.0002_first_sessions")
        with item.config.stash[blocking_manager_key].unblock():
            first.add_first_sessions(apps, None)
