"""Run it: `python -m bench.soak --help`."""

import argparse
import contextlib
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from bench.database import fresh_database
from bench.report import Figure, percentile
from bench.soak.agents import Caller, end
from bench.soak.cluster import Cluster, own_cluster
from bench.soak.ledger import Ledger
from bench.soak.people import Board, Person
from bench.soak.verdict import verdict
from tests.conftest import wait_until
from tests.databases import rows
from tests.serving import Site

P99_LIMIT_MS = 1000
KILL_PAUSE = (2.0, 6.0)
START_SECONDS = 120.0
CONVERGE_SECONDS = 30.0
SAMPLE_SECONDS = 2.0
GROWTH_LIMIT_MB = 30.0


class Memory(threading.Thread):
    """Sample what the processes hold; their growth is the last third's mean less the second's."""

    def __init__(self, site: Site, callers: list[Caller], stopping: threading.Event) -> None:
        super().__init__(name="memory", daemon=True)
        self.site, self.callers, self.stopping = site, callers, stopping
        self.web: list[float] = []
        self.agent: list[float] = []

    def run(self) -> None:
        """Sample until `stopping`."""
        while not self.stopping.wait(SAMPLE_SECONDS):
            self._sample(self.web, [self.site.process.pid])
            self._sample(self.agent, [pid for c in self.callers[:8] if (pid := c.victim())])

    def _sample(self, samples: list[float], pids: list[int]) -> None:
        with contextlib.suppress(psutil.Error):
            sizes = [psutil.Process(pid).memory_info().rss / 1e6 for pid in pids]
            if sizes:
                samples.append(sum(sizes) / len(sizes))

    @staticmethod
    def growth(samples: list[float]) -> float:
        """Return megabytes gained between the middle and the end."""
        third = len(samples) // 3
        if not third:
            return 0.0
        middle, last = samples[third : 2 * third], samples[2 * third :]
        return sum(last) / len(last) - sum(middle) / len(middle)


class Killer(threading.Thread):
    """End one process after another by SIGKILL, and start again what nobody else does."""

    def __init__(
        self,
        site: Site,
        callers: list[Caller],
        cluster: Cluster | None,
        ledger: Ledger,
        stopping: threading.Event,
    ) -> None:
        super().__init__(name="killer", daemon=True)
        self.site, self.callers, self.cluster = site, callers, cluster
        self.ledger, self.stopping = ledger, stopping

    def run(self) -> None:
        """Kill until `stopping`; leave everything running."""
        kinds: list[Callable[[], None]] = [self._agent] * 5 + [self._web] * 2
        if self.cluster is not None:
            kinds += [self._database] * 2
        while not self.stopping.wait(random.uniform(*KILL_PAUSE)):
            try:
                random.choice(kinds)()
            except AssertionError as error:
                self.ledger.fault(f"did not come back: {error}")
                return

    def _agent(self) -> None:
        for caller in random.sample(self.callers, min(3, len(self.callers))):
            if pid := caller.victim():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                self.ledger.count("agents killed")

    def _web(self) -> None:
        self.site.kill()
        self.ledger.count("web processes killed")
        try:
            self.site.start()
        except AssertionError:
            # Busy machines start slowly; a process that ended is told at once.
            wait_until(self.site.answers, seconds=START_SECONDS, what="the site answers")

    def _database(self) -> None:
        assert self.cluster is not None
        self.cluster.kill()
        self.ledger.count("PostgreSQL killed")
        self.stopping.wait(random.uniform(0, 2))
        self.cluster.start()


def soak(options: argparse.Namespace, database: Path, cluster: Cluster | None) -> bool:
    """Load, watch, stop, compare; print what was found."""
    ledger, stopping, resting = Ledger(), threading.Event(), threading.Event()
    site = Site(database)
    try:
        key = site.scribe("sign_in", username="admin")
        callers = [
            Caller(number, database, ledger, stopping, kill=options.kill)
            for number in range(options.agents)
        ]
        boards = [Board(site, key, ledger, resting) for _number in range(options.boards)]
        person = Person(site, key, ledger, stopping, kill=options.kill)
        memory = Memory(site, callers, stopping)
        for thread in (*callers, *boards, person):
            thread.start()
        for caller in callers:
            if not caller.ready.wait(300):
                raise SystemExit("the agents do not start")
        ledger.times.clear()  # the measure begins once everybody is there
        print(f"{options.agents} agents, {options.boards} boards: begun", flush=True)
        memory.start()
        others: list[threading.Thread] = [memory, person]
        if options.kill:
            others.append(Killer(site, callers, cluster, ledger, stopping))
            others[-1].start()
        time.sleep(options.minutes * 60)
        stopping.set()
        end(callers)
        for thread in others:
            thread.join(120)
        ledger.faults += converge(database, boards)
        resting.set()
        for board in boards:
            board.join(30)
    finally:
        stopping.set()
        resting.set()
        site.stop()
    if "Traceback" in site.log.read_text():
        ledger.fault(f"the web process's log has a traceback: {site.log}")
    ledger.faults += verdict(database, ledger)
    return report(options, ledger, memory)


def converge(database: Path, boards: list[Board]) -> list[str]:
    """Return what boards that do not reach the feed's end say."""
    ((last,),) = rows(database, "SELECT max(id) FROM coordination_event")
    try:
        wait_until(lambda: all(board.last >= last for board in boards), seconds=CONVERGE_SECONDS)
    except AssertionError:
        late = [str(last - board.last) for board in boards if board.last < last]
        return [f"{len(late)} boards did not converge; events behind: {', '.join(late[:5])}"]
    return []


def report(options: argparse.Namespace, ledger: Ledger, memory: Memory) -> bool:
    """Print figures, counts and faults; tell whether all is well."""
    calls = [ms for name, times in ledger.times.items() if name != "people" for ms in times]
    if not calls:
        print("FAULT no call was answered")
        return False
    limit = None if options.kill else P99_LIMIT_MS
    growth = None if options.kill else GROWTH_LIMIT_MB
    figures = [
        Figure("calls a second", len(calls) / (options.minutes * 60), "/s"),
        Figure("a call, p50", percentile(calls, 0.5), "ms"),
        Figure("a call, p99", percentile(calls, 0.99), "ms", limit=limit),
        Figure("a call, longest", max(calls), "ms"),
        *(
            Figure(f"{name} p99", percentile(times, 0.99), "ms")
            for name, times in sorted(ledger.times.items())
        ),
        Figure("web process, most memory", max(memory.web, default=0.0), "MB"),
        Figure("web process, growth", memory.growth(memory.web), "MB", limit=growth),
        Figure("an agent, most memory", max(memory.agent, default=0.0), "MB"),
        Figure("an agent, growth", memory.growth(memory.agent), "MB", limit=growth),
    ]
    for figure in figures:
        print(figure.line())
    written = (len(ledger.asked), len(ledger.answered), len(ledger.closed), len(ledger.tasks))
    print("acknowledged: {} questions, {} answers, {} closings, {} steps".format(*written))
    for name, count in sorted(ledger.counts.items()):
        print(f"{name}: {count}")
    for sentence in ledger.faults[:50]:
        print(f"FAULT {sentence}")
    if len(ledger.faults) > 50:
        print(f"FAULT … and {len(ledger.faults) - 50} more")
    return not ledger.faults and all(figure.holds is not False for figure in figures)


def main() -> int:
    """Read the command line, make a database, soak it."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--agents", type=int, default=64)
    parser.add_argument("--boards", type=int, default=10)
    parser.add_argument("--kill", action="store_true", help="end processes at random")
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    random.seed(options.seed)
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(own_cluster()) if options.engine == "postgres" else None
        database = stack.enter_context(fresh_database(cluster.url if cluster else ""))
        well = soak(options, database, cluster)
    print("all is well" if well else "NOT WELL")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
