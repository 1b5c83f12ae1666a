"""How many questions a second processes store together on one SQLite file."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from bench.agent import Agent, crowd
from bench.database import fresh_database
from bench.report import Figure

CALLS = 2400
IN_FLIGHT = 8
"""Calls that each client keeps under way: the servers are measured, not these pipes."""


def measure() -> list[Figure]:
    """Return the rate for 1, 8 and 64 processes; the limit is for 8 on two cores."""
    figures = []
    for count in (1, 8, 64):
        with fresh_database() as database:
            limit = 500 if count == 8 else None
            name = f"writes, {count} process{'es' if count > 1 else ''}"
            figures.append(Figure(name, rate(database, count), "/s", limit=limit, at_least=True))
    return figures


def rate(database: Path, count: int) -> float:
    """Return the questions stored a second by `count` processes."""
    with ExitStack() as stack, ThreadPoolExecutor(count) as pool:
        agents = [stack.enter_context(agent) for agent in crowd(count, database)]
        for agent in agents:
            agent.call("mf_inbox", seconds=60)
        each = CALLS // count
        before = time.monotonic()
        list(pool.map(lambda agent: ask(agent, each), agents))
        return each * count / (time.monotonic() - before)


def ask(agent: Agent, calls: int) -> None:
    """Ask many questions, a few at a time."""
    call = {"name": "mf_ask", "arguments": {"to": "human", "subject": "Q", "body": "Une question."}}
    waiting: list[int] = []
    for _number in range(calls):
        waiting.append(agent.ask("tools/call", call))
        if len(waiting) == IN_FLIGHT:
            stored(agent, waiting.pop(0))
    for request in waiting:
        stored(agent, request)


def stored(agent: Agent, request: int) -> None:
    """Wait for an answer, which must be no error."""
    result = agent.answer_to(request, seconds=120)["result"]
    if result.get("isError"):
        raise AssertionError(result)
