"""A validation belongs to its runner while that lives: nobody else ends it, nor outlives it."""

import datetime as dt

import pytest
from django.utils import timezone

from plans.models import Plan, Task
from plans.services import steps, transitions
from tests.plans.factories import PANEL, PERSON, RUNNER, make_plan, make_task, snapshot

pytestmark = pytest.mark.django_db
SHELL = {"validation_mode": "shell", "validation_rule": {"cmd": "true", "timeout": 1}}


def begun(**values) -> Task:
    task = make_task(make_plan(), "current", **SHELL | values)
    steps.begin_validation(actor=PANEL, task_id=task.pk, runner_id=RUNNER)
    return task


def finish(task: Task, runner: str = RUNNER, *, passed: bool, final: bool = False):
    return steps.finish_validation(
        actor=PANEL,
        task_id=task.pk,
        runner_id=runner,
        passed=passed,
        evidence="seen",
        error="" if passed else "not so",
        final=final,
    )


def let_it_die(task: Task) -> None:
    past = timezone.now() - dt.timedelta(seconds=1)
    Task.objects.filter(pk=task.pk).update(lease_expires_at=past)


def test_a_rule_that_holds_ends_the_step():
    task = begun()
    after = finish(task, passed=True)
    assert (after.status, after.attempts, after.last_proof) == ("done", 1, "seen")
    assert (after.runner_id, after.lease_expires_at) == ("", None)
    assert Plan.objects.get().status == "done"


def test_attempts_left_give_the_step_back_and_the_last_one_fails_it():
    task = begun(max_attempts=2)
    after = finish(task, passed=False)
    assert (after.status, after.last_error) == ("current", "not so")
    steps.begin_validation(actor=PANEL, task_id=task.pk, runner_id=RUNNER)
    assert finish(task, passed=False).status == "failed"


def test_no_attempt_is_left_when_none_could_pass():
    assert finish(begun(max_attempts=9), passed=False, final=True).status == "failed"


def test_another_runner_ends_nothing():
    task = begun()
    assert finish(task, "runner-2", passed=True) is None
    assert not steps.renew_lease(task_id=task.pk, runner_id="runner-2")
    assert snapshot(task).status == "validating"


def test_a_late_finisher_overwrites_nothing():
    task = begun()
    let_it_die(task)
    steps.expire_leases()
    transitions.skip_task(actor=PERSON, task_id=task.pk)
    before = snapshot(task)
    assert finish(task, passed=True) is None
    assert snapshot(task) == before


def test_finishing_a_deleted_step_does_nothing():
    task = begun()
    Task.objects.all().delete()
    assert finish(task, passed=True) is None


def test_a_live_runner_is_left_alone_and_a_dead_ones_step_fails():
    task = begun()
    assert steps.expire_leases() == 0
    let_it_die(task)
    assert steps.renew_lease(task_id=task.pk, runner_id=RUNNER)
    assert steps.expire_leases() == 0
    let_it_die(task)
    assert steps.expire_leases(plan_id=task.plan_id + 1) == 0
    assert steps.expire_leases() == 1
    after = snapshot(task)
    assert (after.status, after.last_error) == ("failed", "runner_crashed")


def test_the_next_look_finds_the_dead():
    task = begun()
    assert steps.next_step(actor=PANEL).kind == "validating"
    let_it_die(task)
    found = steps.next_step(actor=PANEL)
    assert (found.kind, found.task.last_error) == ("failed", "runner_crashed")


def test_waiting_for_a_human_survives_every_look():
    task = make_task(make_plan(), "awaiting_human")
    steps.expire_leases()
    assert snapshot(task).status == "awaiting_human"
