"""What many waiting agents cost while nothing happens."""

import time
from pathlib import Path

from bench.agent import Agent
from bench.database import fresh_database
from bench.report import Figure

AGENTS = 64
SECONDS = 20
SETTLING_SECONDS = 5


def measure() -> list[Figure]:
    """Return the share of one core that all of them take together, waiting and not waiting."""
    with fresh_database() as database:
        agents: list[Agent] = []
        try:
            for _number in range(AGENTS):  # one by one: what is measured comes after their start
                agents.append(Agent("panel", database=database).initialize())
            idle = share(agents)
            for agent in agents:
                agent.ask("tools/call", {"name": "mf_wait", "arguments": {}})
            waiting = share(agents)
        finally:
            for agent in agents:
                agent.kill()
    return [
        Figure(f"{AGENTS} idle processes", idle, "% core"),
        Figure(f"{AGENTS} processes in mf_wait", waiting, "% core", limit=5),
    ]


def share(agents: list[Agent]) -> float:
    """Return how much of one core the processes take, in percent."""
    time.sleep(SETTLING_SECONDS)
    before, began = seconds_used(agents), time.monotonic()
    time.sleep(SECONDS)
    return 100 * (seconds_used(agents) - before) / (time.monotonic() - began)


def seconds_used(agents: list[Agent]) -> float:
    """Return the processor time of the processes: the scheduler's own count, in nanoseconds."""
    threads = (
        thread for agent in agents for thread in Path(f"/proc/{agent.pid}/task").glob("*/schedstat")
    )
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9
