"""Handoff beside other programs at the nearest same job, in turn, through the same client.

Messages: eight agents send one and read their inbox, each waiting for its answers. Steps: a
person adds one and lists them, an agent claims it.
"""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from bench import rivals
from bench.agent import Agent, crowd
from bench.database import fresh_database
from bench.report import Figure, percentile, skipped
from tests.serving import Site

PROCESSES = 8
ROUNDS = 25
"""Messages of each process in a turn."""
TURNS = 4
WARM_UP = 5
STEPS = 60
LETTER = {"subject": "Bonjour", "body": "Une question d'une longueur ordinaire, à répondre."}
INSTRUCTIONS = "What is to be done."

Job = Callable[[], object]
"""One call, or two that go together, timed as one."""


@dataclass(slots=True)
class Side:
    """One program's eight agents, and what they took."""

    jobs: list[tuple[Job, Job]]
    """Each agent's sending and reading."""
    calls: list[float] = field(default_factory=list)
    seconds: float = 0.0
    sent: int = 0

    def turn(self, rounds: int) -> None:
        """Let every agent send and read some times, all at once."""
        with ThreadPoolExecutor(len(self.jobs)) as pool:
            before = time.perf_counter()
            each = list(pool.map(lambda pair: [_ms(job) for job in pair * rounds], self.jobs))
            self.seconds += time.perf_counter() - before
        self.calls += [value for values in each for value in values]
        self.sent += rounds * len(self.jobs)

    def forget(self) -> None:
        """Begin to count."""
        self.calls, self.seconds, self.sent = [], 0.0, 0

    def figures(self, name: str) -> tuple[Figure, Figure]:
        """Return the rate and the p95."""
        return (
            Figure(f"messages sent and read, {name}", self.sent / self.seconds, "/s"),
            Figure(f"  p95 of a call, {name}", percentile(self.calls, 0.95), "ms"),
        )


def messages() -> list[Figure]:
    """Return rates and p95 of both; where agent-inbox is not to be had, the line that says so."""
    try:
        with ExitStack() as stack:
            theirs = Side(_letters(stack.enter_context(rivals.agent_inbox(PROCESSES))))
            database = stack.enter_context(fresh_database())
            agents = [stack.enter_context(agent) for agent in crowd(PROCESSES, database)]
            own = Side([_questions(agent, number) for number, agent in enumerate(agents)])
            _in_turn(own, theirs)
    except rivals.Absent as absent:
        return [skipped(rivals.AGENT_INBOX, str(absent))]
    own_rate, own_p95 = own.figures("Handoff")
    rate, p95 = theirs.figures(rivals.AGENT_INBOX)
    ratio = (own.sent / own.seconds) / (theirs.sent / theirs.seconds)
    latest = percentile(own.calls, 0.95) / percentile(theirs.calls, 0.95)
    return [
        own_rate,
        rate,
        Figure("  messages a second / agent-inbox's", ratio, "×", limit=2, at_least=True),
        own_p95,
        p95,
        Figure("  p95 / agent-inbox's", latest, "×", limit=1),
    ]


def _in_turn(own: Side, theirs: Side) -> None:
    """Measure both, each as often the first."""
    for side in (own, theirs):
        side.turn(WARM_UP)
        side.forget()
    for number in range(TURNS):
        for side in (own, theirs) if number % 2 else (theirs, own):
            side.turn(ROUNDS)


def _questions(agent: Agent, number: int) -> tuple[Job, Job]:
    to = ("app", "panel")[number % 2]
    return lambda: _called(agent, "mf_ask", to=to, **LETTER), lambda: _called(agent, "mf_inbox")


def _letters(agents: list[Agent]) -> list[tuple[Job, Job]]:
    return [
        _letter(agent, f"agent_{(number + 1) % len(agents)}") for number, agent in enumerate(agents)
    ]


def _letter(agent: Agent, to: str) -> tuple[Job, Job]:
    """Return how to send to a neighbour and how to read what came since the last look.

    The bookmark is what agent-inbox advises; without it, a look shows everything again.
    """
    since: dict[str, str] = {}

    def look() -> None:
        since["since"] = json.loads(_called(agent, "check_inbox", **since))["cursor"]

    return lambda: _called(agent, "send_message", to=to, **LETTER), look


@dataclass(frozen=True, slots=True)
class Steps:
    """How a program takes a new step, lists them, and gives one to an agent to work on."""

    create: Job
    list: Job
    claim: Job
    settle: Job
    """Ends the claimed step, so that the next one can be claimed; not timed."""


KINDS = ("create a step", "list the steps", "claim a step")


def steps() -> list[Figure]:
    """Return p50 and p95 of each program's calls; one that is not here has a line that says so."""
    openers: dict[str, Callable[[], AbstractContextManager[Steps]]] = {
        "Handoff": _own_steps,
        rivals.AK5: _ak5_steps,
        rivals.BACKLOG: _backlog_steps,
    }
    sides: dict[str, Steps] = {}
    missing: list[Figure] = []
    with ExitStack() as stack:
        for name, opener in openers.items():
            try:
                sides[name] = stack.enter_context(opener())
            except rivals.Absent as absent:
                missing.append(skipped(name, str(absent)))
        times = _steps_in_turn(sides)
    return [
        Figure(f"{kind}, {name}, p{share}", percentile(values, share / 100), "ms")
        for kind in KINDS
        for name in sides
        if (values := times[kind, name])
        for share in (50, 95)
    ] + missing


def _steps_in_turn(sides: dict[str, Steps]) -> dict[tuple[str, str], list[float]]:
    times: dict[tuple[str, str], list[float]] = {(k, name): [] for k in KINDS for name in sides}
    for number in range(WARM_UP + STEPS):
        for name in sorted(sides, reverse=bool(number % 2)):
            side = sides[name]
            for kind, job in zip(KINDS, (side.create, side.list, side.claim), strict=True):
                value = _ms(job)
                if number >= WARM_UP:
                    times[kind, name].append(value)
            side.settle()
    return times


@contextmanager
def _own_steps() -> Iterator[Steps]:
    """Create and list by REST, as a person's program does; claim as an agent."""
    with fresh_database() as database, ExitStack() as stack:
        site = Site(database)
        stack.callback(site.stop)
        client = stack.enter_context(httpx.Client(base_url=site.url, timeout=30))
        client.cookies.set("handoff_session", site.scribe("sign_in", username="admin"))
        client.get("/").raise_for_status()
        client.headers["X-CSRFToken"] = client.cookies["handoff_csrf"]
        agent = stack.enter_context(Agent("panel", database=database)).initialize()
        title = {"project": "panel", "title": "Plan"}
        plan = f"/api/plans/{_sent(client, '/api/plans', title)['id']}"
        step = {"title": "Step", "instructions": INSTRUCTIONS, "validation_mode": "manual"}
        latest = {"id": 0}

        def settle() -> None:
            _called(agent, "mf_validate_step", task_id=latest["id"])
            _sent(client, f"/api/tasks/{latest['id']}/action", {"action": "validate-manual"})

        yield Steps(
            create=lambda: latest.update(_sent(client, f"{plan}/tasks", step)),
            list=lambda: client.get(plan).raise_for_status(),
            claim=lambda: _called(agent, "mf_next_step"),
            settle=settle,
        )


@contextmanager
def _ak5_steps() -> Iterator[Steps]:
    """Create and list by REST; claim by MCP, which takes two calls."""
    board = "proj-core-engine"
    ticket = {"title": "Step", "board_id": board, "spec": INSTRUCTIONS}
    claimed: dict[str, str] = {}
    with rivals.ak5() as site:

        def claim() -> None:
            found = json.loads(_called(site.worker, "ak5_next", board_id=board))["ticket"]
            claimed["ticket_id"] = found["ticket_id"]
            _called(site.worker, "ak5_ticket_claim", **claimed)

        yield Steps(
            create=lambda: _sent(
                site.client, "/tickets", ticket | {"acceptance_criteria": ["Done."]}
            ),
            list=lambda: site.client.get("/tickets", params={"board_id": board}).raise_for_status(),
            claim=claim,
            # Where it would go next, no more than three may lie.
            settle=lambda: _called(site.worker, "ak5_ticket_release", **claimed, reason="Later."),
        )


@contextmanager
def _backlog_steps() -> Iterator[Steps]:
    """Do everything by MCP; to claim is to put one's name on a task that is under way."""
    with rivals.backlog() as agent:
        created = {"number": 0}

        def create() -> None:
            _called(agent, "task_create", title="Step", description=INSTRUCTIONS)
            created["number"] += 1

        def edit(status: str) -> str:
            name = f"TASK-{created['number']}"
            return _called(agent, "task_edit", id=name, status=status, assignee=["@agent"])

        yield Steps(
            create=create,
            list=lambda: _called(agent, "task_list"),
            claim=lambda: edit("In Progress"),
            settle=lambda: edit("Done"),
        )


def _ms(job: Job) -> float:
    before = time.perf_counter()
    job()
    return (time.perf_counter() - before) * 1000


def _called(agent: Agent, tool: str, **arguments: Any) -> str:
    """Return what a tool answered, which must be no error; some say so in their text only."""
    reply = agent.call(tool, seconds=60, **arguments)
    if reply.is_error or reply.text.startswith('{"error"') or '"ok": false' in reply.text:
        raise AssertionError(f"{tool}: {reply.text}")
    return reply.text


def _sent(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = client.post(path, json=body).raise_for_status().json()
    return answer
