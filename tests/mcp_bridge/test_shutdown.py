"""However its client goes, a process sends what it owes and is gone within five seconds."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from bench.agent import RUNMCP
from tests.conftest import clean_environment, wait_until
from tests.databases import sqlite_only
from tests.mcp_bridge.conftest import rows

ASK = {"name": "mf_ask", "arguments": {"to": "app", "subject": "Q", "body": "b"}}


def gone(agent) -> int:
    before = time.monotonic()
    status = agent.process.wait(10)
    assert time.monotonic() - before < 5
    return status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_status_0(start, number):
    agent = start().initialize()
    os.kill(agent.pid, number)
    assert gone(agent) == 0


def test_the_end_of_its_input_ends_it_with_status_0(start):
    agent = start().initialize()
    agent.process.stdin.close()
    assert gone(agent) == 0


def test_an_output_that_nobody_reads_any_more_ends_it(start):
    agent = start().initialize()
    agent.process.stdout.close()
    assert gone(agent) == 0


def test_calls_sent_before_the_end_of_the_input_are_answered(start, database_file):
    agent = start().initialize()
    requests = [agent.ask("tools/call", ASK) for _ in range(20)]
    agent.process.stdin.close()
    for request in requests:
        assert not agent.answer_to(request)["result"].get("isError")
    assert gone(agent) == 0
    assert rows(database_file, "SELECT count(*) FROM coordination_message") == [(20,)]


def test_calls_in_flight_are_answered_before_a_signal_ends_it(start):
    agent = start().initialize()
    requests = [agent.ask("tools/call", ASK) for _ in range(20)]
    agent.answer_to(requests[0])  # it has read them: they came in one piece, or nearly
    os.kill(agent.pid, signal.SIGTERM)
    answered = sum("result" in agent.answer_to(request) for request in requests[1:4])
    assert answered == 3
    assert gone(agent) == 0


def test_a_dead_parent_ends_it_even_while_its_pipes_are_held_open(database_file, tmp_path):
    """A parent that starts it, tells its pid, and is killed; the pipes are ours all along."""
    ours, theirs = socket.socketpair()
    script = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen({list(RUNMCP)!r}, stdin={theirs.fileno()}, "
        f"stdout={theirs.fileno()})\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        pass_fds=[theirs.fileno()],
        env=clean_environment(MCP_HANDOFF_DB=str(database_file), MCP_SESSION_ID="panel"),
    )
    child = int(parent.stdout.readline())
    ours.sendall(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    assert b'"id":1' in ours.recv(1000)  # sockets serve as well as pipes
    parent.kill()
    parent.wait()
    parent.stdout.close()
    try:
        wait_until(lambda: not alive(child), seconds=5, what="the orphan to end")
    finally:
        ours.close()
        theirs.close()
        if alive(child):
            os.kill(child, signal.SIGKILL)


@sqlite_only
def test_a_lock_on_the_database_does_not_hold_up_the_end(start, database_file):

    agent = start().initialize()
    agent.call("mf_inbox")
    with closing(sqlite3.connect(database_file, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        agent.ask("tools/call", ASK)
        agent.request("ping")
        agent.process.stdin.close()
        assert gone(agent) == 0


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
