"""What every test shares: real processes, real files, bounded waiting."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

PROJECT = Path(__file__).resolve().parent.parent


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


def clean_environment(**extra: str) -> dict[str, str]:
    """Return this environment without Handoff's own variables, plus `extra`."""
    own = ("HANDOFF_", "MCP_", "DATABASE_URL", "REDIS_URL", "DJANGO_")
    return {k: v for k, v in os.environ.items() if not k.startswith(own)} | extra


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the schema and the first rows, made once for a run."""
    path = tmp_path_factory.mktemp("template") / "handoff.sqlite"
    subprocess.run(
        [sys.executable, PROJECT / "manage.py", "migrate", "-v0"],
        env=clean_environment(MCP_HANDOFF_DB=str(path), HANDOFF_DATA_DIR=str(path.parent)),
        check=True,
        timeout=60,
    )
    # One file to copy: fold the write-ahead log back into it.
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.fixture
def database_file(migrated_file: Path, tmp_path: Path) -> Path:
    """A fresh database that separate processes share; point them at it with MCP_HANDOFF_DB."""
    path = tmp_path / "handoff.sqlite"
    shutil.copy(migrated_file, path)
    return path
