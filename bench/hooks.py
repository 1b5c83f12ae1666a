"""How long Claude Code waits for a hook: a process from its start to its end, on both engines."""

import json
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.agent import Agent
from bench.database import PROJECT, fresh_database, variables_of
from bench.report import Figure, percentile
from tests.services.cluster import running_cluster

RUN = PROJECT / "mcp_bridge" / "hooks" / "run.py"
EVENTS = (
    {"hook_event_name": "SessionStart", "source": "startup"},
    {"hook_event_name": "Stop", "stop_hook_active": False},
)
ROUNDS = 30
WARM_UP = 3


def measure() -> list[Figure]:
    """Return the median and p95 of a hook that finds a question, on each engine."""
    figures = []
    with ExitStack() as stack:
        for engine in ("SQLite", "PostgreSQL"):
            server = stack.enter_context(running_cluster()).url if engine == "PostgreSQL" else ""
            database = stack.enter_context(fresh_database(server))
            with Agent("app", database=database) as agent:
                agent.initialize().call("mf_ask", to="panel", subject="Q", body="Une question.")
            times = _timed(database)
            figures.append(Figure(f"hook, {engine}, p50", percentile(times, 0.5), "ms"))
            figures.append(Figure(f"hook, {engine}, p95", percentile(times, 0.95), "ms", limit=300))
    return figures


def _timed(database: Path) -> list[float]:
    times = []
    with TemporaryDirectory(prefix="handoff-bench-") as name:
        env = {"MCP_SESSION_ID": "panel", **variables_of(database)}
        config = {"mcpServers": {"handoff": {"command": "x", "args": [], "env": env}}}
        Path(name, ".mcp.json").write_text(json.dumps(config))
        for number in range(WARM_UP + ROUNDS):
            event = EVENTS[number % 2] | {"session_id": f"bench-{number}"}
            before = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-I", RUN, name],
                input=json.dumps(event).encode(),
                capture_output=True,
                env={"XDG_STATE_HOME": name},
                check=True,
            )
            if number >= WARM_UP:
                times.append((time.perf_counter() - before) * 1000)
            if not done.stdout or done.stderr:
                raise AssertionError(done)
    return times
