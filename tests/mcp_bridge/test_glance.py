"""A glance at SQLite's files sees every commit, and costs no query."""

import sqlite3
from contextlib import closing

import pytest

from mcp_bridge import glance as module
from mcp_bridge.glance import Glance
from tests.conftest import wait_until


@pytest.fixture
def path(tmp_path, monkeypatch):
    path = tmp_path / "base.sqlite"
    monkeypatch.setattr(module, "database_path", lambda: path)
    return path


def commit(path, mode):
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA journal_mode={mode}")
        database.execute("CREATE TABLE IF NOT EXISTS t (x)")
        database.execute("INSERT INTO t VALUES (1)")
        database.commit()


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_commit_is_due_once_and_stillness_is_not(path, mode):
    commit(path, mode)
    with closing(sqlite3.connect(path)) as reader:  # keeps the log from being folded back
        reader.execute("SELECT * FROM t").fetchall()
        glance = Glance(patience=60)
        assert glance.due()
        assert not glance.due()
        # The files' clock ticks every few milliseconds: a commit shows once it has.
        assert wait_until(lambda: commit(path, mode) or glance.due())
        assert not glance.due()


def test_patience_has_an_end_and_a_failed_look_is_due_again(path):
    commit(path, "WAL")
    assert all(Glance(patience=0).due() for _ in range(3))
    glance = Glance(patience=60)
    assert glance.due()
    glance.forget()
    assert glance.due()


def test_what_is_no_file_is_always_due(path, monkeypatch):
    glance = Glance(patience=60)  # absent yet
    assert [glance.due(), glance.due()] == [True, True]
    monkeypatch.setattr(module, "database_path", lambda: None)
    glance = Glance(patience=60)
    assert [glance.due(), glance.due()] == [True, True]
