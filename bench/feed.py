"""How long a commit by one process takes to be handed over by another process's tail."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from bench.database import OWN_VARIABLES, PROJECT, fresh_database, variables_of
from bench.report import Figure, percentile
from tests.services.cluster import running_cluster

ROUNDS = 300
WARM_UP = 20
LONGEST_PAUSE_SECONDS = 0.06
"""Between two commits, at random: they fall anywhere between two of the tail's looks."""
LIMIT_MS = 50


def measure() -> list[Figure]:
    """Return p50 and p95 of the delay on both engines."""
    with fresh_database() as database:
        figures = _measured("SQLite", database)
    with running_cluster() as cluster, fresh_database(cluster.url) as database:
        return figures + _measured("PostgreSQL", database)


def _measured(engine: str, database: Path) -> list[Figure]:
    delays = _delays(database)
    name = f"commit to another process, {engine}"
    return [
        Figure(f"{name}, p50", percentile(delays, 0.5), "ms"),
        Figure(f"{name}, p95", percentile(delays, 0.95), "ms", limit=LIMIT_MS),
    ]


def _delays(database: Path) -> list[float]:
    """Return the milliseconds from right before each commit to its delivery."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(OWN_VARIABLES)}
    environment |= variables_of(database) | {
        "HANDOFF_DATA_DIR": str(database.parent),
        "DJANGO_SETTINGS_MODULE": "handoff_site.settings",
    }

    def start(end: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "bench.feed", end],
            env=environment,
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            text=True,
        )

    with start("follow") as follower:
        try:
            assert follower.stdout
            assert follower.stdout.readline() == "ready\n"
            with start("write") as writer:
                written, _errors = writer.communicate(timeout=120)
            delivered, _errors = follower.communicate(timeout=30)
        finally:
            follower.kill()
    pairs = zip(written.splitlines(), delivered.splitlines(), strict=True)
    return [(float(after) - float(before)) * 1000 for before, after in pairs][WARM_UP:]


def follow() -> None:
    """Print the moment at which the tail hands over each event; end with the last one."""
    from coordination.feed import Tail
    from coordination.models import Event

    left = list(range(WARM_UP + ROUNDS))

    def deliver(events: list[Event]) -> None:
        moment = time.monotonic()  # one clock for every process of the machine
        for _event in events:
            left.pop()
            print(moment, flush=True)
        if not left:
            tail.stop()

    tail = Tail(deliver)
    tail.start()
    tail.ready.wait()
    print("ready", flush=True)
    tail.join()


def write() -> None:
    """Ask questions, one event each, and print the moment right before each commit."""
    from django.db import transaction

    from coordination.actors import Actor
    from coordination.services.messages import ask

    for _number in range(WARM_UP + ROUNDS):
        with transaction.atomic():
            ask(actor=Actor.agent("panel"), to="app", subject="Bonjour", body="Une question.")
            before = time.monotonic()
        print(before, flush=True)
        time.sleep(random.uniform(0, LONGEST_PAUSE_SECONDS))


if __name__ == "__main__":
    import django

    django.setup()
    {"follow": follow, "write": write}[sys.argv[1]]()
