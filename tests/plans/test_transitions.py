"""What a transition asks besides its state, and what it leaves; `test_every_door` has the pairs."""

import datetime as dt

import pytest
from django.utils import timezone

from coordination.errors import Conflict, Forbidden, MissingFields, NotFound
from coordination.models import Event
from plans.models import Task
from plans.services import steps, transitions
from plans.states import HUMAN_EVENTS, TRANSITIONS, TaskEvent, TaskStatus, Who, allowed_events
from tests.plans.doors import ASKED_OF_A_STEP, SERVICES
from tests.plans.factories import APP, PANEL, PERSON, RUNNER, make_plan, make_task, snapshot

pytestmark = pytest.mark.django_db

OF_AN_AGENT = sorted(ASKED_OF_A_STEP)


def current_step(event: TaskEvent) -> Task:
    """Return the current step, of a mode that suits the event."""
    shell = {"validation_mode": "shell", "validation_rule": {"cmd": "true", "timeout": 1}}
    return make_task(make_plan(), "current", **(shell if event == TaskEvent.BEGIN else {}))


@pytest.mark.parametrize("event", HUMAN_EVENTS)
def test_an_agent_cannot_do_what_people_do(event: TaskEvent):
    task = make_task(make_plan(), TRANSITIONS[event].sources[0])
    before = snapshot(task)
    with pytest.raises(Forbidden):
        transitions.act(actor=PANEL, task_id=task.pk, action=event, remark="x")
    assert snapshot(task) == before


@pytest.mark.parametrize("event", OF_AN_AGENT)
def test_an_agent_touches_no_other_projects_step(event: TaskEvent):
    task = current_step(event)
    before = snapshot(task)
    with pytest.raises(Forbidden, match=f"#{task.pk}"):
        {
            TaskEvent.SUBMIT: lambda: transitions.submit_for_human(actor=APP, task_id=task.pk),
            TaskEvent.BEGIN: lambda: steps.begin_validation(
                actor=APP, task_id=task.pk, runner_id=RUNNER
            ),
            TaskEvent.BLOCK: lambda: transitions.block_step(actor=APP, task_id=task.pk, reason="x"),
        }[event]()
    assert snapshot(task) == before


@pytest.mark.parametrize("event", OF_AN_AGENT)
def test_a_paused_plan_refuses_its_agent_and_says_why(event: TaskEvent):
    task = current_step(event)
    type(task.plan).objects.filter(pk=task.plan_id).update(status="paused")
    before = snapshot(task)
    with pytest.raises(Conflict) as refused:
        SERVICES[event](task)
    assert refused.value.code == "plan_paused"
    assert snapshot(task) == before


def test_each_mode_has_its_own_way_to_validate():
    manual = make_task(make_plan(), "current")
    shell = make_task(make_plan("app"), "current", validation_mode="shell")
    with pytest.raises(Conflict, match="par un humain"):
        steps.begin_validation(actor=PANEL, task_id=manual.pk, runner_id=RUNNER)
    with pytest.raises(Conflict, match="par une commande"):
        transitions.submit_for_human(actor=APP, task_id=shell.pk)


def test_submission_keeps_the_proof_and_counts_the_attempt():
    task = make_task(make_plan(), "current", attempts=2)
    transitions.submit_for_human(actor=PANEL, task_id=task.pk, proof="seen")
    after = snapshot(task)
    assert (after.attempts, after.last_proof) == (3, "seen")


def test_a_remark_comes_back_with_the_step():
    task = make_task(make_plan(), "awaiting_human")
    transitions.reject_task(actor=PERSON, task_id=task.pk, remark="the title is wrong")
    found = steps.next_step(actor=PANEL).task
    assert found is not None
    assert (found.id, found.last_error) == (task.pk, "the title is wrong")


def test_sending_back_needs_a_remark():
    task = make_task(make_plan(), "awaiting_human")
    with pytest.raises(MissingFields, match="remark"):
        transitions.reject_task(actor=PERSON, task_id=task.pk, remark="  ")


def test_reset_starts_afresh():
    task = make_task(make_plan(), "failed", attempts=3, last_error="bad", started_at=timezone.now())
    transitions.reset_task(actor=PERSON, task_id=task.pk)
    after = snapshot(task)
    assert (after.attempts, after.last_error, after.started_at) == (0, "", None)


def test_a_second_validation_is_refused():
    task = make_task(make_plan(), "awaiting_human")
    transitions.validate_task(actor=PERSON, task_id=task.pk)
    with pytest.raises(Conflict):
        transitions.validate_task(actor=PERSON, task_id=task.pk)
    assert Event.objects.filter(verb="task_validated").count() == 1


def test_an_unknown_step_is_not_found():
    with pytest.raises(NotFound, match="#99"):
        transitions.validate_task(actor=PERSON, task_id=99)
    with pytest.raises(NotFound):
        transitions.block_step(actor=PANEL, task_id=2**70, reason="x")


def test_the_table_names_every_event_and_reaches_every_status():
    assert set(TRANSITIONS) == set(TaskEvent)
    reached = {row.target for row in TRANSITIONS.values()}
    assert reached == set(TaskStatus)
    assert allowed_events("validating") == []
    assert allowed_events("current", Who.AGENT) == ["submit", "begin", "block"]


def test_times_are_kept_with_their_zone():
    task = make_task(make_plan(), "awaiting_human")
    transitions.validate_task(actor=PERSON, task_id=task.pk)
    completed = snapshot(task).completed_at
    assert completed is not None
    assert timezone.now() - completed < dt.timedelta(minutes=1)
