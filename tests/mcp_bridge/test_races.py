"""Many processes on one SQLite file: no lock error, no lost or doubled work."""

import random
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from bench.agent import Agent, crowd
from tests.databases import assert_intact
from tests.mcp_bridge.conftest import rows

COUNTS = {
    "mf_ask": "SELECT count(*) FROM coordination_message WHERE parent_id IS NULL",
    "mf_answer": "SELECT count(*) FROM coordination_message WHERE parent_id IS NOT NULL",
}
REFUSALS_IN_A_RACE = ("fermée", "n'existe pas", "est une réponse")
"""Another process closed the question first, has not asked it yet, or answered under that id."""


class Worker:
    """One agent and a tally of what it was told."""

    def __init__(self, agent: Agent, seed: int, questions: int) -> None:
        self.agent = agent
        self.random = random.Random(seed)
        self.questions = questions
        self.done: Counter[str] = Counter()
        self.refused: list[str] = []
        self.killed = False

    def work(self, calls: int, die_after: int | None = None) -> None:
        """Make mixed calls; be killed in the middle of one where asked to."""
        for number in range(calls):
            name, arguments = self._next()
            if number == die_after:
                self.agent.ask("tools/call", {"name": name, "arguments": arguments})
                self.agent.process.send_signal(signal.SIGKILL)
                self.killed = True
                return
            reply = self.agent.call(name, seconds=60, **arguments)
            if not reply.is_error:
                self.done[name] += 1
            elif not any(words in reply.text for words in REFUSALS_IN_A_RACE):
                self.refused.append(reply.text)

    def _next(self) -> tuple[str, dict[str, object]]:
        some = self.random.randint(1, self.questions)
        return self.random.choice(
            [
                ("mf_ask", {"to": "human", "subject": "Q", "body": "b"}),
                ("mf_ask", {"to": "human", "subject": "Q", "body": "b"}),
                ("mf_answer", {"message_id": some, "body": "b"}),
                ("mf_close", {"message_id": some}),
                ("mf_inbox", {}),
                ("mf_history", {"limit": 5}),
                ("mf_thread", {"message_id": some}),
                ("mf_health", {}),
            ]
        )


@pytest.fixture
def gather(database_file):
    """Start many agents on one database; none survives the test."""
    with ExitStack() as stack:
        yield lambda count: [stack.enter_context(a) for a in crowd(count, database_file)]


def settle(database, workers) -> Counter[str]:
    """Check the file and that no call met anything but a rule; return what was acknowledged."""
    assert [text for worker in workers for text in worker.refused] == []
    assert_intact(database)
    answered_yet_open = """
        SELECT count(*) FROM coordination_message q
        JOIN coordination_message a ON a.parent_id = q.id WHERE q.status = 'open'
    """
    assert rows(database, answered_yet_open) == [(0,)]
    return sum((worker.done for worker in workers), Counter())


def run(workers, calls, doomed=()):
    with ThreadPoolExecutor(len(workers)) as pool:
        futures = [
            pool.submit(worker.work, calls, calls // 2 if n in doomed else None)
            for n, worker in enumerate(workers)
        ]
        for future in futures:
            future.result()


def test_eight_processes_make_a_hundred_mixed_calls_each(gather, database_file):
    workers = [Worker(agent, seed, 50) for seed, agent in enumerate(gather(8))]
    run(workers, 100)
    done = settle(database_file, workers)
    for tool, query in COUNTS.items():
        assert rows(database_file, query) == [(done[tool],)]


@pytest.mark.timeout(600)  # starting 64 processes is most of it
def test_64_processes_make_50_mixed_calls_each_then_ten_are_killed(gather, database_file):
    agents = gather(64)
    workers = [Worker(agent, seed, 200) for seed, agent in enumerate(agents)]
    run(workers, 50)
    done = settle(database_file, workers)
    for tool, query in COUNTS.items():
        assert rows(database_file, query) == [(done[tool],)]

    doomed = set(range(0, 60, 6))
    assert len(doomed) == 10
    run(workers, 50, doomed)
    done = settle(database_file, workers)
    assert sum(worker.killed for worker in workers) == 10
    for tool, query in COUNTS.items():
        # Each killed process had one call under way, which may have been stored or not.
        ((stored,),) = rows(database_file, query)
        assert done[tool] <= stored <= done[tool] + 10
    assert {agents[number].process.wait(5) for number in doomed} == {-signal.SIGKILL}
    assert all(w.agent.close() == 0 for n, w in enumerate(workers) if n not in doomed)


def test_a_question_is_never_answered_after_it_was_closed(start, database_file):
    panel, app = start("panel").initialize(), start("app").initialize()
    for number in range(1, 101):
        asked = panel.call("mf_ask", to="app", subject="Q", body="b")
        question = int(asked.text.split("#")[1].split()[0])
        close = {"name": "mf_close", "arguments": {"message_id": question}}
        answer = {"name": "mf_answer", "arguments": {"message_id": question, "body": str(number)}}
        closing, answering = panel.ask("tools/call", close), app.ask("tools/call", answer)
        assert not panel.answer_to(closing)["result"].get("isError")
        answered = not app.answer_to(answering)["result"].get("isError")
        ((status, answers),) = rows(
            database_file,
            "SELECT status, (SELECT count(*) FROM coordination_message a WHERE a.parent_id = q.id)"
            " FROM coordination_message q WHERE id = ?",
            question,
        )
        assert (status, answers) == ("closed", int(answered))
