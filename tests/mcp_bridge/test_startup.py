"""A process starts whatever the state of its database, says what is wrong, and recovers."""

import os
import shutil
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from bench.agent import Agent
from tests.conftest import PROJECT, wait_until
from tests.databases import sqlite_only
from tests.mcp_bridge.conftest import rows

pytestmark = sqlite_only


def answers(agent: Agent) -> None:
    """Check that the handshake and the list of tools come soon whatever the database does.

    The start is held to its two seconds in processor time, as this machine may be busy.
    """
    agent.initialize(seconds=60)
    spent = Path(f"/proc/{agent.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    assert sum(map(int, spent)) / os.sysconf("SC_CLK_TCK") < 2
    before = time.monotonic()
    tools = agent.request("tools/list")["result"]["tools"]
    assert len(tools) == 12
    assert time.monotonic() - before < 2


def works(agent: Agent) -> bool:
    return agent.call("mf_inbox").text.startswith("Aucune question (open)")


def test_eight_processes_on_an_absent_database_make_one_schema(tmp_path):
    database = tmp_path / "new" / "handoff.sqlite"
    agents = [Agent("panel" if n % 2 else "app", database=database) for n in range(8)]
    try:
        for agent in agents:
            agent.initialize(seconds=90)
        call = {"name": "mf_broadcast", "arguments": {"subject": "Q", "body": "b"}}
        waiting = [agent.ask("tools/call", call) for agent in agents]
        for agent, request in zip(agents, waiting, strict=True):
            result = agent.answer_to(request, seconds=90)["result"]
            assert not result.get("isError"), result
        assert [agent.close() for agent in agents] == [0] * 8
    finally:
        for agent in agents:
            agent.kill()
    assert rows(database, "SELECT count(*) FROM coordination_message") == [(8,)]
    assert rows(database, "PRAGMA journal_mode") == [("wal",)]
    assert rows(database, "PRAGMA integrity_check") == [("ok",)]
    twice = "SELECT app, name FROM django_migrations GROUP BY app, name HAVING count(*) > 1"
    assert rows(database, twice) == []


def test_an_empty_file_is_an_absent_database(start, tmp_path):
    database = tmp_path / "handoff.sqlite"
    database.touch()
    assert works(start(database=database).initialize())


def test_a_locked_database_costs_an_answer_not_the_process(start, database_file):
    with closing(sqlite3.connect(database_file, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        agent = start()
        answers(agent)
        before = time.monotonic()
        call = {"name": "mf_ask", "arguments": {"to": "app", "subject": "Q", "body": "b"}}
        together = [agent.ask("tools/call", call) for _ in range(4)]
        for request in together:
            result = agent.answer_to(request)["result"]
            assert result["isError"]
            assert "verrouillée" in result["content"][0]["text"]
        assert time.monotonic() - before < 10
        # The process serves what needs no database meanwhile.
        assert agent.request("ping", seconds=2)["result"] == {}
        holder.execute("ROLLBACK")
    assert works(agent)
    assert rows(database_file, "SELECT count(*) FROM coordination_message") == [(0,)]


def test_a_lock_that_ends_in_time_is_only_waited_for(start, database_file):
    agent = start().initialize()
    assert works(agent)
    holder = sqlite3.connect(database_file, isolation_level=None, check_same_thread=False)
    with closing(holder):
        holder.execute("BEGIN IMMEDIATE")
        release = threading.Timer(1.5, lambda: holder.execute("ROLLBACK"))
        release.start()
        assert not agent.call("mf_ask", to="app", subject="Q", body="b").is_error
        release.join()


@pytest.mark.parametrize("kind", ["text", "folder", "no folder"])
def test_an_unreadable_database_is_named_and_mended_without_restart(
    start, tmp_path, migrated_file, kind
):
    database = tmp_path / "place" / "handoff.sqlite"
    obstacle = tmp_path / "place"
    if kind == "text":
        obstacle.mkdir()
        database.write_text("this is no database, and longer than its header is: " * 40)
    elif kind == "folder":
        database.mkdir(parents=True)
    else:
        obstacle.write_text("a file where the folder should be")
    agent = start(database=database, variables={"HANDOFF_DATA_DIR": str(tmp_path / "data")})
    answers(agent)
    reply = agent.call("mf_inbox")
    assert reply.is_error
    assert str(database) in reply.text
    assert "MCP_HANDOFF_DB" in reply.text
    if kind == "no folder":
        obstacle.unlink()
        obstacle.mkdir()
    elif kind == "folder":
        database.rmdir()
    shutil.copy(migrated_file, database)
    assert works(agent)


def test_a_database_behind_the_code_is_left_alone_until_it_is_migrated(start, database_file):
    last = "SELECT max(id) FROM django_migrations WHERE app = 'coordination'"
    (kept,) = rows(database_file, f"SELECT * FROM django_migrations WHERE id = ({last})")
    rows(database_file, "DELETE FROM django_migrations WHERE id = ?", kept[0])
    agent = start()
    answers(agent)
    reply = agent.call("mf_ask", to="app", subject="Q", body="b")
    assert reply.is_error
    assert "en retard" in reply.text
    assert f"MCP_HANDOFF_DB={database_file}" in reply.text
    assert reply.text.endswith("manage.py migrate")
    assert rows(database_file, "SELECT count(*) FROM coordination_message") == [(0,)]
    rows(database_file, "INSERT INTO django_migrations VALUES (?, ?, ?, ?)", *kept)
    assert works(agent)


def test_a_database_that_is_replaced_is_the_one_written_to(start, database_file, migrated_file):
    agent = start().initialize()
    agent.call("mf_ask", to="app", subject="Q", body="b")
    for file in database_file.parent.glob("handoff.sqlite*"):
        file.unlink()
    shutil.copy(migrated_file, database_file)
    assert not agent.call("mf_ask", to="app", subject="after", body="b").is_error
    wait_until(
        lambda: rows(database_file, "SELECT subject FROM coordination_message") == [("after",)]
    )


@pytest.mark.parametrize("session", ["", "nobody"])
def test_a_process_without_a_usable_session_starts_too(start, session):
    agent = start(session)
    answers(agent)
    assert agent.call("mf_health").is_error


def test_a_relative_path_means_the_same_database_from_every_folder(tmp_path, migrated_file):
    database = tmp_path / "relative.sqlite"
    shutil.copy(migrated_file, database)
    relative = os.path.relpath(database, PROJECT)
    for folder in (tmp_path, PROJECT):
        variables = {"MCP_HANDOFF_DB": relative, "HANDOFF_DATA_DIR": str(tmp_path)}
        with Agent("panel", variables=variables, cwd=folder) as agent:
            agent.initialize().call("mf_ask", to="app", subject="Q", body="b")
    assert rows(database, "SELECT count(*) FROM coordination_message") == [(2,)]
