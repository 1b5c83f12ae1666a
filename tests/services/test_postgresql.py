"""PostgreSQL away, restarted, locked, silent or behind PgBouncer: a sentence each, then service."""

import contextlib
import signal
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from bench.agent import Agent
from bench.database import named
from tests.conftest import wait_until
from tests.databases import rows
from tests.serving import Site

pytestmark = pytest.mark.services

AWAY = "Error: the database server does not answer"
ASKED = "SELECT count(*) FROM coordination_message"


def ask(agent: Agent) -> str:
    before = time.monotonic()
    text = agent.call("mf_ask", to="app", subject="Port?", body="Which one?").text
    assert time.monotonic() - before < 10
    return text


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_a_restart_costs_a_sentence_and_the_next_call_works(server, cluster, start, how):
    agent = start("panel", server)
    assert ask(agent).startswith("Question created #1")
    cluster.stop(how)
    assert ask(agent).startswith(AWAY)
    cluster.start()
    assert ask(agent).startswith("Question created #")
    assert rows(server, ASKED) == [(2,)]


def test_a_restart_between_two_calls_is_not_noticed(server, cluster, start):
    agent = start("panel", server)
    ask(agent)
    cluster.stop()
    cluster.start()
    assert ask(agent).startswith("Question created #")


def test_a_call_in_flight_gets_a_sentence(server, cluster, start):
    agent = start("panel", server)
    ask(agent)
    holder = psycopg.connect(server.read_text())
    holder.execute("LOCK TABLE coordination_message IN ACCESS EXCLUSIVE MODE")
    arguments = {"to": "app", "subject": "Port?", "body": "Which one?"}
    waiting = agent.ask("tools/call", {"name": "mf_ask", "arguments": arguments})
    query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    wait_until(lambda: rows(server, query) != [(0,)], what="the call waits")
    cluster.stop(signal.SIGQUIT)
    result = agent.answer_to(waiting, seconds=10)["result"]
    assert result["isError"]
    assert result["content"][0]["text"].startswith(AWAY)
    cluster.start()
    assert ask(agent).startswith("Question created #")


def test_a_lock_costs_an_answer_not_the_process(server, start):
    agent = start("panel", server)
    ask(agent)
    with psycopg.connect(server.read_text()) as holder:
        holder.execute("LOCK TABLE coordination_message IN ACCESS EXCLUSIVE MODE")
        assert ask(agent).startswith("Error: the database is locked by another program")
        holder.rollback()
        assert ask(agent).startswith("Question created #")
    assert rows(server, ASKED) == [(2,)]


def test_a_server_that_says_nothing_is_given_up_in_time(tmp_path: Path, start):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        database = named(tmp_path, f"postgresql://handoff@127.0.0.1:{port}/handoff")
        agent = start("panel", database)
        assert ask(agent).startswith(AWAY)


@contextlib.contextmanager
def serving(database: Path) -> Iterator[Site]:
    served = Site(database, HANDOFF_LANGUAGE="en")
    try:
        yield served
    finally:
        served.stop()


@pytest.fixture
def site(server: Path) -> Iterator[Site]:
    with serving(server) as served:
        yield served


def status(site: Site, path: str = "/api/backends") -> tuple[int, str]:
    key = getattr(site, "key", None) or site.scribe("sign_in", username="admin")
    site.key = key
    request = urllib.request.Request(site.url + path, headers={"Cookie": f"handoff_session={key}"})
    before = time.monotonic()
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            answer = response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        answer = error.code, error.read().decode()
    assert time.monotonic() - before < 10
    return answer


def test_the_site_says_so_while_the_server_is_away_and_recovers(server, cluster, site):
    assert status(site)[0] == 200
    cluster.stop(signal.SIGQUIT)
    for _number in range(3):
        code, said = status(site)
        assert code == 503
        assert "try again in a moment" in said
    cluster.start()
    code, said = status(site)
    assert code == 200, said


def test_the_sites_threads_share_a_bounded_pool(server, site):
    status(site)
    for _number in range(30):
        assert status(site)[0] == 200
    query = (
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    # The pool's, the feed's own, the scribe's.
    assert rows(server, query)[0][0] <= 10 + 1 + 2


def test_six_agents_and_a_site_share_three_connections_through_pgbouncer(pooled, server, start):
    agents = [start(("panel", "app")[n % 2], pooled) for n in range(6)]
    with serving(pooled) as site:
        for number in range(10):
            for agent in agents:
                to = "app" if agents.index(agent) % 2 == 0 else "panel"
                reply = agent.call("mf_ask", to=to, subject=f"Q{number}", body="b")
                assert not reply.is_error, reply.text
                assert not agent.call("mf_history", subject_contains="Q").is_error
        assert status(site)[0] == 200
        assert status(site, "/api/messages")[0] == 200
    assert rows(server, ASKED) == [(60,)]
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    assert rows(server, query)[0][0] <= 3 + 1


def test_a_setting_of_the_session_stays_out_of_a_poolers_connections(pooled, server, start):
    ask(start("panel", pooled))
    with psycopg.connect(pooled.read_text(), autocommit=True) as through:
        assert through.execute("SHOW lock_timeout").fetchone() == ("0",)
