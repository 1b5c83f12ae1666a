"""The feed on PostgreSQL: each committed event is delivered once, in any order and weather."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tests.conftest import PROJECT, clean_environment, wait_until

pytestmark = pytest.mark.services

TAIL = """
import json, sys, time
import django
django.setup()
from coordination.feed import Tail
def say(what):  # one write: two threads speak
    sys.stdout.write(json.dumps(what) + "\\n")
    sys.stdout.flush()
tail = Tail(lambda events: say([e.pk for e in events]))
tail.start()
assert tail.ready.wait(20)
say([])
for _line in sys.stdin:
    say({"skipped": len(tail.skipped)})
"""
EVENT = (
    "INSERT INTO coordination_event (at, actor, verb, subject, data)"
    " VALUES (now(), 'panel', 'asked', 'message:1', '{}') RETURNING id"
)


class Follower:
    """A process that follows the feed."""

    def __init__(self, database: Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", TAIL],
            cwd=PROJECT,
            env=clean_environment(
                MCP_HANDOFF_DB=str(database),
                HANDOFF_DATA_DIR=str(database.parent),
                DJANGO_SETTINGS_MODULE="handoff_site.settings",
                HANDOFF_ROLE="agent",
                **environment,
            ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout.readline() == "[]\n"
        self.delivered: list[int] = []
        self.skipped: int | None = None
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            said = json.loads(line)
            if isinstance(said, dict):
                self.skipped = said["skipped"]
            else:
                self.delivered += said

    def has(self, *ids: int) -> None:
        """Wait until these events have been delivered, each once, and no other."""
        wait_until(lambda: len(self.delivered) >= len(ids), what=f"{ids} are delivered")
        assert self.delivered == list(ids)

    def skips(self) -> int:
        """Return how many skipped ids are kept in mind."""
        self.skipped = None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        wait_until(lambda: self.skipped is not None)
        return self.skipped


@pytest.fixture
def follow() -> Iterator[Callable[..., Follower]]:
    started: list[Follower] = []

    def start(database: Path, **environment: str) -> Follower:
        started.append(Follower(database, **environment))
        return started[-1]

    yield start
    for follower in started:
        follower.process.kill()
        follower.process.wait(10)


def begin(database: Path) -> psycopg.Connection:
    """Open a transaction that has written something, as every writer of events has."""
    writer = psycopg.connect(database.read_text())
    writer.execute("UPDATE coordination_session SET position = position WHERE false")
    writer.execute("SELECT pg_current_xact_id()")
    return writer


def append(writer: psycopg.Connection) -> int:
    (pk,) = writer.execute(EVENT).fetchone()
    writer.execute("NOTIFY handoff_events")
    return pk


def commit(database: Path) -> int:
    with begin(database) as writer:
        return append(writer)


def test_an_event_that_commits_after_a_later_one_is_delivered_too(server, follow):
    follower = follow(server)
    early, late = begin(server), begin(server)
    first, second = append(early), append(late)
    late.commit()
    follower.has(second)
    third = commit(server)
    follower.has(second, third)
    early.commit()
    follower.has(second, third, first)
    fourth = commit(server)
    follower.has(second, third, first, fourth)
    assert follower.skips() == 0


def test_an_event_under_way_when_the_tail_begins_is_delivered(server, follow):
    early = begin(server)
    first = append(early)
    commit(server)
    follower = follow(server)
    early.commit()
    follower.has(first)


def test_what_is_rolled_back_is_forgotten_once_no_one_can_commit_it(server, follow):
    follower = follow(server)
    lasting = begin(server)
    first = append(lasting)
    for _number in range(50):
        with begin(server) as writer:
            append(writer)
            writer.rollback()
    second = commit(server)
    follower.has(second)
    assert follower.skips() == 51
    lasting.commit()
    follower.has(second, first)
    third = commit(server)
    follower.has(second, first, third)
    wait_until(lambda: commit(server) and follower.skips() == 0, what="nothing is kept in mind")


def test_a_jump_of_the_numbers_costs_bounded_memory(server, follow):
    follower = follow(server)
    with psycopg.connect(server.read_text(), autocommit=True) as writer:
        writer.execute("SELECT nextval('coordination_event_id_seq') FROM generate_series(1, 50000)")
    last = commit(server)
    follower.has(last)
    assert follower.skips() <= 1000


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_a_restart_in_between_loses_and_doubles_nothing(server, cluster, follow, how):
    follower = follow(server)
    lost, late = begin(server), begin(server)
    append(lost)
    second = append(late)
    late.commit()
    follower.has(second)
    cluster.stop(how)
    cluster.start()
    third = commit(server)
    follower.has(second, third)
    fourth = commit(server)
    follower.has(second, third, fourth)
    wait_until(lambda: commit(server) and follower.skips() == 0, what="nothing is kept in mind")


def test_four_writers_that_commit_and_roll_back_at_random_are_told_whole(server, follow):
    follower = follow(server)
    committed: list[int] = []

    def write(seed: int) -> None:
        with psycopg.connect(server.read_text()) as writer:
            for number in range(100):
                writer.execute("SELECT pg_current_xact_id()")
                pk = append(writer)
                time.sleep((number * seed % 7) / 5000)
                if (number + seed) % 5:
                    writer.commit()
                    committed.append(pk)
                else:
                    writer.rollback()

    threads = [threading.Thread(target=write, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_until(lambda: len(follower.delivered) >= 320, what="every event")
    assert sorted(follower.delivered) == sorted(committed)


@pytest.mark.parametrize("past_it", [False, True])
def test_through_pgbouncer_a_commit_is_told_in_time(server, pooled, follow, past_it):
    listen = {"HANDOFF_LISTEN_URL": server.read_text()} if past_it else {}
    follower = follow(pooled, **listen)
    delays = []
    told: list[int] = []
    for _number in range(10):
        told.append(commit(pooled))
        before = time.monotonic()
        wait_until(lambda: len(follower.delivered) >= len(told))
        delays.append(time.monotonic() - before)
    follower.has(*told)
    assert sorted(delays)[5] < 0.2
