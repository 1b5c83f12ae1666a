"""How long a search of the history takes at a million questions, on both engines.

Through the tool, as an agent asks: needles of three letters and more, from words that every
other subject has to what none has, alone and with filters.
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.agent import Agent
from bench.database import fresh_database
from bench.filling import fill, vocabulary
from bench.report import Figure, percentile
from tests.services.cluster import running_cluster

MESSAGES = 1_000_000
ROUNDS = 60
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"from_session": "app"},
    {"to_session": "panel"},
    {"status": "closed"},
    {"from_session": "project-5", "to_session": "app", "status": "answered"},
    {"limit": 50},
)
LIMIT_MS = 20


def measure() -> list[Figure]:
    """Return, for each engine, p50 and p95 of the searches and p50 of a question."""
    return [figure for engine in ("SQLite", "PostgreSQL") for figure in _measured(engine)]


def _measured(engine: str) -> list[Figure]:
    with _filled(engine) as database, Agent("panel", database=database) as agent:
        agent.initialize()
        kinds = {name: _timed(agent, needles) for name, needles in _needles().items()}
        asked = [_ms(agent, "mf_ask", to="app", subject="Port ?", body="b") for _n in range(200)]
    every = [value for values in kinds.values() for value in values]
    name = f"search, {MESSAGES:,} messages, {engine}"
    return [
        Figure(f"{name}, p50", percentile(every, 0.5), "ms"),
        Figure(f"{name}, p95", percentile(every, 0.95), "ms", limit=LIMIT_MS),
        *(Figure(f"  {kind}, p95", percentile(v, 0.95), "ms") for kind, v in kinds.items()),
        Figure("  mf_ask, p50", percentile(asked, 0.5), "ms"),
    ]


@contextmanager
def _filled(engine: str) -> Iterator[Path]:
    if engine == "SQLite":
        with fresh_database() as database:
            fill(database, MESSAGES)
            yield database
    else:
        with running_cluster() as cluster, fresh_database(cluster.url) as database:
            fill(database, MESSAGES)
            yield database


def _needles() -> dict[str, list[str]]:
    """Return needles by how many subjects have them."""
    rng = random.Random(1)
    words = vocabulary()
    long = [word for word in words if len(word) > 4]
    return {
        "very common": rng.choices(words[:20], k=ROUNDS),
        "ordinary": [rng.choice(long)[:5] for _n in range(ROUNDS)],
        "three letters": [rng.choice(long)[1:4] for _n in range(ROUNDS)],
        "rare": rng.choices(words[-500:], k=ROUNDS),
        "two words": [f"{rng.choice(words)} {rng.choice(words)}" for _n in range(ROUNDS)],
        "none": [f"{rng.choice(long)[:3]}{rng.choice(long)[-3:]}q" for _n in range(ROUNDS)],
    }


def _timed(agent: Agent, needles: list[str]) -> list[float]:
    return [
        _ms(agent, "mf_history", subject_contains=needle, **FILTERS[number % len(FILTERS)])
        for number, needle in enumerate(needles)
        if len(needle) > 2
    ]


def _ms(agent: Agent, tool: str, **arguments: Any) -> float:
    before = time.perf_counter()
    reply = agent.call(tool, **arguments)
    elapsed = (time.perf_counter() - before) * 1000
    if reply.is_error:
        raise AssertionError(f"{tool}: {reply.text}")
    return elapsed
