"""An agent that calls every tool in a random mixture, and comes back when it is killed."""

import contextlib
import random
import re
import threading
import time
from pathlib import Path

from bench.agent import Agent, Gone, Reply
from bench.soak.ledger import Ledger

STARTING = threading.Semaphore(6)
"""Starting is the costly part: a few at a time."""
MIXTURE = {"ask": 4, "answer": 4, "close": 1, "read": 6, "step": 3}
CALL_SECONDS = 30.0
THOUGHT_SECONDS = 1.0
"""An agent's longest pause between two turns, half of it on average: an agent that thinks of
nothing else takes seconds. Without any, 64 measure how they queue for two cores."""
AWAY = ("base", "relance", "recommence")
"""Words of the sentences that an agent gets while the database is away."""


class Caller(threading.Thread):
    """One agent's client: a process at a time, until `stopping`."""

    def __init__(
        self, number: int, database: Path, ledger: Ledger, stopping: threading.Event, *, kill: bool
    ) -> None:
        super().__init__(name=f"agent-{number}", daemon=True)
        self.session, self.other = (("panel", "app"), ("app", "panel"))[number % 2]
        self.database, self.ledger, self.stopping, self.kill = database, ledger, stopping, kill
        self.agent: Agent | None = None
        self.ready = threading.Event()

    def run(self) -> None:
        """Call, and start again what died."""
        while not self.stopping.is_set():
            try:
                if self.agent is None:
                    self._start()
                else:
                    self._turn()
                    self.stopping.wait(random.uniform(0, THOUGHT_SECONDS))
            except (Gone, BrokenPipeError):
                self._died()
            except TimeoutError:
                self.ledger.fault(f"{self.name}: no answer within {CALL_SECONDS:g} s")
                self._died()
        if self.agent is not None:
            self.agent.kill()

    def victim(self) -> int | None:
        """Return the process to kill."""
        return self.agent.pid if self.agent is not None and self.ready.is_set() else None

    def _start(self) -> None:
        with STARTING:
            self.agent = Agent(self.session, database=self.database)
            self.agent.initialize(seconds=120)
        self.ready.set()

    def _died(self) -> None:
        self.ready.clear()
        if self.agent is not None:
            if not self.kill:
                self.ledger.fault(f"{self.name}: its process ended")
            self.agent.kill()
            self.agent = None

    def _turn(self) -> None:
        kind = random.choices(list(MIXTURE), list(MIXTURE.values()))[0]
        getattr(self, f"_{kind}")()

    def _call(self, name: str, *, may_refuse: bool = False, **arguments: object) -> Reply | None:
        """Return the answer of a call that was done; None when it was refused."""
        assert self.agent is not None
        begun = time.perf_counter()
        reply = self.agent.call(name, seconds=CALL_SECONDS, **arguments)
        self.ledger.took(name, (time.perf_counter() - begun) * 1000)
        if not reply.is_error:
            return reply
        if self.kill and any(word in reply.text for word in AWAY):
            self.ledger.count("calls told that the database is away")
        elif may_refuse:
            self.ledger.count("refusals")
        else:
            self.ledger.fault(f"{name}: {reply.text}")
        return None

    def _ask(self) -> None:
        mark = self.ledger.mark()
        if random.random() < 0.2:
            reply = self._call("mf_broadcast", subject=mark, body=f"À tous: {mark}")
        else:
            reply = self._call("mf_ask", to=self.other, subject=mark, body=f"Une question. {mark}")
        if reply is not None and (number := first_number(reply.text)):
            with self.ledger.lock:
                self.ledger.asked[number] = mark

    def _answer(self) -> None:
        question = self.ledger.some_question()
        if question is None:
            return
        mark = self.ledger.mark()
        if self._call("mf_answer", may_refuse=True, message_id=question, body=mark):
            with self.ledger.lock:
                self.ledger.answered[mark] = question

    def _close(self) -> None:
        question = self.ledger.some_question()
        if question is not None and self._call("mf_close", message_id=question):
            with self.ledger.lock:
                self.ledger.closed.add(question)

    def _read(self) -> None:
        question = self.ledger.some_question()
        name = random.choice(("mf_inbox", "mf_history", "mf_health", "mf_thread"))
        if name == "mf_history":
            self._call(name, subject_contains="marque-1")
        elif name != "mf_thread":
            self._call(name)
        elif question is not None:
            self._call(name, message_id=question)

    def _step(self) -> None:
        reply = self._call("mf_next_step", may_refuse=True)
        if reply is None or "mf_validate_step" not in reply.text:
            return
        task = first_number(reply.text)
        if random.random() < 0.8:
            self._call("mf_validate_step", may_refuse=True, task_id=task, proof="Fait.")
        else:
            self._call("mf_block_step", may_refuse=True, task_id=task, reason="Bloqué.")


def first_number(text: str) -> int | None:
    """Return the first id that a sentence names."""
    found = re.search(r"#(\d+)", text)
    return int(found[1]) if found else None


def end(callers: list[Caller]) -> None:
    """Wait for every caller to stop, and leave no process behind."""
    for caller in callers:
        caller.join(CALL_SECONDS + 10)
        if caller.agent is not None:
            with contextlib.suppress(OSError):
                caller.agent.kill()
