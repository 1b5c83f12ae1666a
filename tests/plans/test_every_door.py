"""Doors × states × events: what the table allows happens, anything else is one sentence."""

import datetime as dt
from itertools import product

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from coordination.models import Event
from coordination.services.sessions import stamp
from mcp_bridge import readiness
from plans.models import Plan, Task
from plans.services import transitions
from plans.states import TRANSITIONS, TaskEvent, TaskStatus
from tests.plans.doors import DOORS
from tests.plans.factories import make_plan, make_task, snapshot

pytestmark = pytest.mark.django_db

EVERY = list(product(DOORS, TaskEvent, TaskStatus))
ALLOWED = [
    (door, event, status)
    for door, event, status in EVERY
    if DOORS[door].answers(event) and status in TRANSITIONS[event].sources
]
REFUSED = [case for case in EVERY if case not in ALLOWED]


@pytest.fixture(scope="module")
def browser() -> Client:
    """One client for all: each new one has the site list its static files anew."""
    return Client()


@pytest.fixture
def client(db, browser: Client) -> Client:
    """A person who may do everything, and has chosen no language: the sentences are in French."""
    browser.cookies.clear()
    browser.force_login(
        User.objects.create(username="ada", is_staff=True, is_superuser=True),
        backend="django.contrib.auth.backends.ModelBackend",
    )
    return browser


@pytest.fixture(autouse=True)
def one_connection(db, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have agents leave open the connection that holds the test's transaction."""
    monkeypatch.setattr(readiness, "look", lambda: None)
    monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", lambda: None)


def step_for(door: str, event: TaskEvent, status: TaskStatus) -> Task:
    """Return a step in `status`, of a session seen just now; nothing else hinders the event."""
    stamp(session="panel")
    values: dict[str, object] = {}
    if event == TaskEvent.BEGIN:
        values = {"validation_mode": "shell", "validation_rule": {"cmd": "true", "timeout": 5}}
    if event == TaskEvent.RETRY:
        values = {"max_attempts": 2}
    dead = event == TaskEvent.CRASH and DOORS[door].answers(event)
    if status == TaskStatus.VALIDATING and not dead:
        values["lease_expires_at"] = timezone.now() + dt.timedelta(minutes=1)
    return make_task(make_plan(), status, **values)


def everything() -> list[object]:
    return [list(model.objects.order_by("pk").values()) for model in (Plan, Task, Event)]


@pytest.mark.parametrize(("door", "event", "status"), REFUSED)
def test_what_the_table_lacks_is_refused_at_every_door_with_one_sentence(
    door: str, event: TaskEvent, status: TaskStatus, client: Client
):
    task = step_for(door, event, status)
    before = everything()
    said = DOORS[door].ask(task, event, client)
    assert everything() == before
    if event in DOORS[door].offers:
        assert said == transitions.refusal(event, task.pk, status).message
        for named in (status, *TRANSITIONS[event].sources):
            assert f"« {named.label} »" in said
    elif event in DOORS[door].unnamed:
        assert said is None
    else:
        assert said


@pytest.mark.parametrize(("door", "event", "status"), ALLOWED)
def test_what_the_table_allows_happens_at_every_door_and_is_told(
    door: str, event: TaskEvent, status: TaskStatus, client: Client, tmp_path, monkeypatch
):
    monkeypatch.setenv("MCP_PROJECT_CWD", str(tmp_path))
    task = step_for(door, event, status)
    assert DOORS[door].ask(task, event, client) is None
    told = list(Event.objects.filter(subject=f"task:{task.pk}").order_by("pk"))
    after = snapshot(task)
    if (door, event) == ("MCP", TaskEvent.BEGIN):  # the rule runs at once, and holds
        assert (after.status, len(told)) == ("done", 2)
    else:
        assert (after.status, len(told)) == (TRANSITIONS[event].target, 1)
    assert after.version == task.version + len(told)
    assert told[0].data == {"plan": task.plan_id, "project": "panel", "title": "A step"}


def test_every_door_knows_each_event_or_says_why_not():
    for name, door in DOORS.items():
        unknown = {event for event in TaskEvent if not door.answers(event)}
        reasons = {TRANSITIONS[event].who for event in unknown}
        assert reasons <= set(door.lacks), name
        assert all((*door.unnamed.values(), *door.lacks.values()))
