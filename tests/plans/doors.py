"""Every way to ask for an event of a step's life, so that tests can knock at all of them alike."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import unescape

from asgiref.sync import async_to_sync
from django.contrib.messages import WARNING, get_messages
from django.http import HttpResponse
from django.test import Client

from coordination.actors import Actor
from coordination.errors import DomainError
from plans.models import Task
from plans.services import steps, transitions
from plans.states import HUMAN_EVENTS, TRANSITIONS, TaskEvent, Who
from tests.mcp_bridge.conftest import working_as
from tests.plans.factories import PANEL, PERSON, RUNNER

AN_AGENTS = frozenset(event for event, row in TRANSITIONS.items() if row.who == Who.AGENT)
ASKED_OF_A_STEP = AN_AGENTS - {TaskEvent.PROMOTE}
"""What an agent does to the step that it names."""
Ask = Callable[[Task, TaskEvent, Client], str | None]
"""Asks for an event, as a browser's client where a door needs one.

Returns the sentence of the refusal without the door's own wrapper; None when nothing was refused.
"""


@dataclass(frozen=True)
class Door:
    """One way in, and how it deals with each event of the table."""

    ask: Ask
    offers: frozenset[TaskEvent]
    """Refused where the table lacks the pair, in the one sentence."""
    unnamed: Mapping[TaskEvent, str] = field(default_factory=dict)
    """Asked for without naming a step, so that there is none to refuse; and why that is."""
    lacks: Mapping[Who, str] = field(default_factory=dict)
    """Whose other events cannot be asked for here in any state, and why."""

    def answers(self, event: TaskEvent) -> bool:
        """Tell whether the event can happen through this door at all."""
        return event in self.offers or event in self.unnamed


def at_the_table(task: Task, event: TaskEvent, _client: Client) -> str | None:
    actor = PERSON if TRANSITIONS[event].who == Who.HUMAN else PANEL
    return refused_by(lambda: transitions.apply(actor, event, task.plan, task))


def at_the_services(task: Task, event: TaskEvent, _client: Client) -> str | None:
    return refused_by(lambda: SERVICES[event](task))


def at_mcp(task: Task, event: TaskEvent, _client: Client) -> str | None:
    tool, arguments = TOOLS.get(event, (f"mf_{event}", {}))

    async def call():
        async with working_as(task.plan.project_id) as agent:
            return await agent(tool, **({"task_id": task.pk, **arguments} if arguments else {}))

    reply = async_to_sync(call)()
    return reply.text.removeprefix("Erreur: ") if reply.is_error else None


def at_rest(task: Task, event: TaskEvent, client: Client) -> str | None:
    url, body = f"/api/tasks/{task.pk}/action", {"action": event, "remark": "Again"}
    answer = client.post(url, body, content_type="application/json")
    if answer.status_code == 200:
        return None
    assert answer.status_code == (409 if event in HUMAN_EVENTS else 422)
    return str(answer.json()["message"])


def at_the_board(task: Task, event: TaskEvent, client: Client) -> str | None:
    answer = client.post(f"/board/steps/{task.pk}/{event}", {"remark": "Again"})
    if answer.status_code == 204:
        return None
    assert answer.status_code == (409 if event in HUMAN_EVENTS else 422)
    return unescape(answer.content.decode()).strip()


def at_the_admin_row(task: Task, event: TaskEvent, client: Client) -> str | None:
    url = f"/admin/plans/task/{task.pk}/do/{event}/"
    return told(client.post(url, {"remark": "Again", "version": task.version}))


def at_the_admin_list(task: Task, event: TaskEvent, client: Client) -> str | None:
    chosen = {"action": event.value.replace("-", "_"), "_selected_action": [task.pk]}
    return told(client.post("/admin/plans/task/", chosen | {"remark": "Again"}))


def refused_by(service: Callable[[], object]) -> str | None:
    try:
        service()
    except DomainError as error:
        return error.message
    return None


def told(answer: HttpResponse) -> str | None:
    """Return what an admin page says that it did not do: its sentences begin with a capital."""
    if answer.status_code == 404:
        return "not found"
    assert answer.status_code == 302
    (message,) = get_messages(answer.wsgi_request)
    text = str(message)
    return f"{text[:1].lower()}{text[1:]}" if message.level >= WARNING else None


def finish(task: Task, *, passed: bool, final: bool = True) -> None:
    steps.finish_validation(
        actor=PANEL, task_id=task.pk, runner_id=RUNNER, passed=passed, evidence="e", final=final
    )


SERVICES: dict[TaskEvent, Callable[[Task], object]] = {
    TaskEvent.PROMOTE: lambda t: steps.next_step(actor=Actor.agent(t.plan.project_id)),
    TaskEvent.SUBMIT: lambda t: transitions.submit_for_human(actor=PANEL, task_id=t.pk, proof="p"),
    TaskEvent.BEGIN: lambda t: steps.begin_validation(actor=PANEL, task_id=t.pk, runner_id=RUNNER),
    TaskEvent.BLOCK: lambda t: transitions.block_step(actor=PANEL, task_id=t.pk, reason="r"),
    TaskEvent.PASS: lambda t: finish(t, passed=True),
    TaskEvent.RETRY: lambda t: finish(t, passed=False, final=False),
    TaskEvent.FAIL: lambda t: finish(t, passed=False),
    TaskEvent.CRASH: lambda t: steps.expire_leases(plan_id=t.plan_id),
    TaskEvent.VALIDATE: lambda t: transitions.validate_task(actor=PERSON, task_id=t.pk),
    TaskEvent.REJECT: lambda t: transitions.reject_task(actor=PERSON, task_id=t.pk, remark="no"),
    TaskEvent.RESET: lambda t: transitions.reset_task(actor=PERSON, task_id=t.pk),
    TaskEvent.SKIP: lambda t: transitions.skip_task(actor=PERSON, task_id=t.pk),
}
TOOLS: dict[TaskEvent, tuple[str, dict[str, str]]] = {
    TaskEvent.PROMOTE: ("mf_next_step", {}),
    TaskEvent.SUBMIT: ("mf_validate_step", {"proof": "p"}),
    TaskEvent.BEGIN: ("mf_validate_step", {"proof": "p"}),
    TaskEvent.BLOCK: ("mf_block_step", {"reason": "r"}),
}

QUEUE = "an agent asks for its one step, and gets what decides"
LEASE = "what the runner held no more is what others did meanwhile: it stands"
DEATH = "whoever looks finds the dead runners, if there are any"
PEOPLES = {
    Who.AGENT: "an agent's own: a person sends it back, resets or skips it instead",
    Who.RUNNER: "only the process that holds the lease ends a validation",
    Who.ANYONE: "a dead runner is found by looking: nobody declares one dead",
}
AGENTS = {
    Who.HUMAN: "people decide: an agent that could would check its own work",
    Who.RUNNER: PEOPLES[Who.RUNNER],
    Who.ANYONE: PEOPLES[Who.ANYONE],
}

DOORS = {
    "table": Door(at_the_table, frozenset(TaskEvent)),
    "services": Door(
        at_the_services,
        ASKED_OF_A_STEP | frozenset(HUMAN_EVENTS),
        unnamed={
            TaskEvent.PROMOTE: QUEUE,
            **dict.fromkeys((TaskEvent.PASS, TaskEvent.RETRY, TaskEvent.FAIL), LEASE),
            TaskEvent.CRASH: DEATH,
        },
    ),
    "MCP": Door(at_mcp, ASKED_OF_A_STEP, unnamed={TaskEvent.PROMOTE: QUEUE}, lacks=AGENTS),
    "REST": Door(at_rest, frozenset(HUMAN_EVENTS), lacks=PEOPLES),
    "board": Door(at_the_board, frozenset(HUMAN_EVENTS), lacks=PEOPLES),
    "admin row": Door(at_the_admin_row, frozenset(HUMAN_EVENTS), lacks=PEOPLES),
    "admin list": Door(at_the_admin_list, frozenset(HUMAN_EVENTS), lacks=PEOPLES),
}
