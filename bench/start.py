"""How soon a process answers, and how much memory it takes, against the bare server."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.agent import Agent
from bench.database import fresh_database
from bench.report import Figure, percentile
from bench.tools import BARE

STARTS = 8


def measure() -> list[Figure]:
    """Start both in turn; compare the medians."""
    with fresh_database() as database:
        kinds: dict[str, Callable[[], Agent]] = {
            "bare": lambda: Agent(command=BARE),
            "runmcp": lambda: Agent("panel", database=database),
        }
        times: dict[str, list[float]] = {kind: [] for kind in kinds}
        memory: dict[str, list[float]] = {kind: [] for kind in kinds}
        for number in range(STARTS + 1):
            for kind, start in kinds.items():
                seconds, megabytes = started(start)
                if number:  # the first start reads the files from disk
                    times[kind].append(seconds)
                    memory[kind].append(megabytes)
    bare, own = (percentile(times[kind], 0.5) for kind in kinds)
    bare_mb, own_mb = (percentile(memory[kind], 0.5) for kind in kinds)
    return [
        Figure("start to initialize, bare SDK", bare, "s"),
        Figure("start to initialize, runmcp", own, "s"),
        Figure("start ratio", own / bare, "×", limit=1.35),
        Figure("memory after calls, bare SDK", bare_mb, "MB"),
        Figure("memory after calls, runmcp", own_mb, "MB"),
        Figure("memory more than bare", own_mb - bare_mb, "MB", limit=20),
    ]


def started(start: Callable[[], Agent]) -> tuple[float, float]:
    """Return the seconds until a new process has answered, and its megabytes after some calls."""
    before = time.monotonic()
    with start() as agent:
        agent.initialize()
        seconds = time.monotonic() - before
        for tool in agent.request("tools/list")["result"]["tools"][:1] * 20:
            arguments: dict[str, Any] = {"text": "t"} if tool["name"] == "echo" else ASK
            agent.call(tool["name"], **arguments)
        return seconds, resident(agent.pid)


ASK = {"to": "app", "subject": "Bonjour", "body": "Une question."}


def resident(pid: int) -> float:
    """Return the megabytes of memory that a process holds."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"no memory figure for process {pid}")
