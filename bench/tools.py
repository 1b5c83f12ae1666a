"""How long a tool call takes, against the bare server's echo: asked in turn, in the same second."""

import sys
import time
from typing import Any

from bench.agent import Agent
from bench.database import PROJECT, fresh_database
from bench.report import Figure, percentile

BARE = (sys.executable, str(PROJECT / "bench" / "bare_server.py"))
ROUNDS = 600
WARM_UP = 50
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "echo (bare SDK)": ("echo", {"text": "bonjour"}),
    "mf_ask": ("mf_ask", {"to": "app", "subject": "Bonjour", "body": "Une question."}),
    "mf_inbox": ("mf_inbox", {}),
    "mf_history": ("mf_history", {"subject_contains": "jour"}),
    "mf_thread": ("mf_thread", {"message_id": 1}),
    "mf_answer": ("mf_answer", {"message_id": 1, "body": "Une réponse."}),
    "mf_close": ("mf_close", {"message_id": 2}),
    "mf_health": ("mf_health", {}),
}


def measure() -> list[Figure]:
    """Return p50 and p95 of each tool, and the ratio that has a limit."""
    with (
        fresh_database() as database,
        Agent(command=BARE) as bare,
        Agent("panel", database=database) as agent,
    ):
        bare.initialize()
        agent.initialize()
        for _number in range(2):  # messages 1 and 2
            agent.call("mf_ask", to="app", subject="Bonjour", body="Une question.")
        times = timed(bare, agent)
    figures = []
    for name, values in times.items():
        figures.append(Figure(f"{name} p50", percentile(values, 0.5), "ms"))
        figures.append(Figure(f"{name} p95", percentile(values, 0.95), "ms"))
    echo, ask = (percentile(times[name], 0.5) for name in ("echo (bare SDK)", "mf_ask"))
    return [*figures, Figure("mf_ask p50 / echo p50", ask / echo, "×", limit=2.5)]


def timed(bare: Agent, agent: Agent) -> dict[str, list[float]]:
    """Return the milliseconds of each call, the first ones left out."""
    times: dict[str, list[float]] = {name: [] for name in CALLS}
    for number in range(ROUNDS + WARM_UP):
        for name, (tool, arguments) in CALLS.items():
            if number >= ROUNDS // 4 and name not in ("echo (bare SDK)", "mf_ask"):
                continue  # the answers of message 1 pile up; those two have a limit to meet
            server = bare if tool == "echo" else agent
            before = time.perf_counter()
            reply = server.call(tool, **arguments)
            if number >= WARM_UP:
                times[name].append((time.perf_counter() - before) * 1000)
            if reply.is_error:
                raise AssertionError(f"{name}: {reply.text}")
    return times
