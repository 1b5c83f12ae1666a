"""What a thousand times more rows cost the calls that agents make all day, on both engines.

Half of the questions are still open in the small database and in the large one, so that both
fill the inbox's page. The same call goes to one and to the other in turn.
"""

import random
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from bench.agent import Agent
from bench.database import fresh_database
from bench.filling import fill, fill_further
from bench.report import Figure, percentile
from tests.services.cluster import running_cluster

STEPS_EACH = 5
SIZES = {"small": (1_000, 100), "large": (1_000_000, 100_000)}
"""Messages and steps."""
TOOLS = ("mf_next_step", "mf_inbox", "mf_thread", "mf_health")
ROUNDS = 200
WARM_UP = 40
LIMIT = 1.5


def measure() -> list[Figure]:
    """Return, for each engine and tool, p50 on the large database and its ratio to the small."""
    return [figure for engine in ("SQLite", "PostgreSQL") for figure in _measured(engine)]


def _measured(engine: str) -> list[Figure]:
    with ExitStack() as stack:
        server = stack.enter_context(running_cluster()).url if engine == "PostgreSQL" else ""
        agents = {
            size: stack.enter_context(_agent(server, messages, steps))
            for size, (messages, steps) in SIZES.items()
        }
        times = _timed(agents)
    figures = []
    for tool in TOOLS:
        small, large = (percentile(times[size, tool], 0.5) for size in SIZES)
        name = f"{tool}, {SIZES['large'][0]:,} messages, {engine}"
        figures.append(Figure(f"{name}, p50", large, "ms"))
        figures.append(Figure(f"  p50 / p50 of {SIZES['small'][0]:,}", large / small, "×", LIMIT))
    return figures


@contextmanager
def _agent(server: str, messages: int, steps: int) -> Iterator[Agent]:
    """Yield an agent on a database of its own: six questions of seven messages, half of them open.

    A third of the others is answered, once each.
    """
    questions = messages * 6 // 7
    with fresh_database(server) as database:
        fill(database, questions, still_open=questions // 2)
        fill_further(database, steps // STEPS_EACH, STEPS_EACH)
        with Agent("panel", database=database) as agent:
            yield agent.initialize()


def _timed(agents: dict[str, Agent]) -> dict[tuple[str, str], list[float]]:
    """Return the milliseconds of each call by size and tool, the first ones left out."""
    times: dict[tuple[str, str], list[float]] = {(s, t): [] for s in SIZES for t in TOOLS}
    rng = random.Random(1)
    for number in range(WARM_UP + ROUNDS):
        place = rng.random()
        for tool in TOOLS:
            for size in sorted(SIZES, reverse=bool(number % 2)):  # each comes first as often
                thread = 1 + int(place * SIZES[size][0] * 6 // 7)
                arguments = {"message_id": thread} if tool == "mf_thread" else {}
                before = time.perf_counter()
                reply = agents[size].call(tool, **arguments)
                if number >= WARM_UP:
                    times[size, tool].append((time.perf_counter() - before) * 1000)
                if reply.is_error:
                    raise AssertionError(f"{tool}: {reply.text}")
    return times
