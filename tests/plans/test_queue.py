"""One FIFO queue a project: which step an agent gets, and that asking changes nothing else."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from coordination.models import Event
from plans.models import Plan, Task
from plans.services import plans, steps, tasks, transitions
from tests.plans.factories import APP, PANEL, PERSON, make_plan, make_task, snapshot

pytestmark = pytest.mark.django_db


def test_nothing_is_given_when_nothing_waits():
    make_plan()
    found = steps.next_step(actor=PANEL)
    assert (found.kind, found.project) == ("nothing", "panel")


def test_the_first_step_is_promoted_once():
    task = make_task(make_plan())
    first, second = steps.next_step(actor=PANEL), steps.next_step(actor=PANEL)
    assert first == second
    assert first.task is not None
    assert (first.task.id, first.kind) == (task.pk, "current")
    assert first.task.started_at is not None
    assert Event.objects.filter(verb="task_promoted").count() == 1


def test_asking_again_only_reads():
    make_task(make_plan())
    steps.next_step(actor=PANEL)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        steps.next_step(actor=PANEL)
    assert [q["sql"][:6] for q in queries] == ["SELECT"] * len(queries)
    assert len(queries) <= 3


@pytest.mark.parametrize("status", ["failed", "blocked", "awaiting_human"])
def test_the_queue_stops_at_what_waits_for_a_human(status: str):
    plan = make_plan()
    first = make_task(plan, status)
    second = make_task(plan)
    make_task(make_plan())
    found = steps.next_step(actor=PANEL)
    assert found.task is not None
    assert (found.task.id, found.kind) == (first.pk, status)
    assert snapshot(second).status == "pending"


def test_a_later_plan_never_overtakes():
    first, second = make_plan(), make_plan()
    later = make_task(second)
    earlier = make_task(first)
    found = steps.next_step(actor=PANEL).task
    assert found is not None
    assert found.id == earlier.pk
    assert snapshot(later).status == "pending"


def test_a_paused_plan_lets_the_next_one_through_and_keeps_its_place():
    first, second = make_plan(), make_plan()
    kept = make_task(first, "current")
    other = make_task(second)
    plans.patch_plan(actor=PERSON, plan_id=first.pk, status="paused")
    assert steps.next_step(actor=PANEL).task.id == other.pk
    plans.patch_plan(actor=PERSON, plan_id=first.pk, status="active")
    assert steps.next_step(actor=PANEL).task.id == kept.pk


def test_equal_positions_go_by_id():
    plan = make_plan()
    first = make_task(plan, position=10)
    make_task(plan, position=10)
    assert steps.next_step(actor=PANEL).task.id == first.pk


def test_the_active_step_goes_before_an_earlier_pending_one():
    plan = make_plan()
    make_task(plan, position=5)
    active = make_task(plan, "current", position=50)
    assert steps.next_step(actor=PANEL).task.id == active.pk


def test_projects_do_not_see_each_other():
    make_task(make_plan("app"))
    assert steps.next_step(actor=PANEL).task is None
    assert steps.next_step(actor=APP).kind == "current"


def test_a_plan_is_done_with_its_last_step_and_a_new_step_opens_it_again():
    plan = make_plan()
    task = make_task(plan, "awaiting_human")
    transitions.validate_task(actor=PERSON, task_id=task.pk)
    assert Plan.objects.get().status == "done"
    tasks.add_task(actor=PERSON, plan_id=plan.pk, title="More", instructions="Do it.")
    assert Plan.objects.get().status == "active"
    tasks.delete_task(actor=PERSON, task_id=Task.objects.latest("id").pk)
    assert Plan.objects.get().status == "done"


@pytest.mark.parametrize("status", ["current", "awaiting_human", "validating"])
def test_a_plan_with_an_active_step_is_neither_archived_nor_deleted(status: str):
    plan = make_plan()
    make_task(plan, status)
    for refused in (
        lambda: plans.patch_plan(actor=PERSON, plan_id=plan.pk, status="archived"),
        lambda: plans.delete_plan(actor=PERSON, plan_id=plan.pk),
    ):
        with pytest.raises(plans.Conflict, match="étape active"):
            refused()
    assert (Plan.objects.get().status, Task.objects.count()) == ("active", 1)
    assert not Event.objects.exists()
