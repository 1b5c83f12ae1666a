"""What reaches a person: what waits for them, in words that say what to do, once."""

import datetime as dt

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from coordination.actors import Actor
from coordination.models import Event
from coordination.services import messages
from notifications.models import Delivery, Duty, Target
from notifications.services import targets
from notifications.worker import Worker
from plans.models import Task
from plans.services.steps import next_step
from plans.services.transitions import (
    block_step,
    reject_task,
    submit_for_human,
    validate_task,
)
from tests.notifications.conftest import SITE, Receiver
from tests.notifications.factories import make_target
from tests.plans.factories import APP, PANEL, PERSON, make_plan, make_task

pytestmark = pytest.mark.django_db

AWAITING = "Validate step #{} of panel: Ship it"


def submitted(proof: str = "see build 7") -> int:
    """A step of panel's that waits for a human, by way of the services."""
    task = make_task(make_plan(title="Release"), title="Ship it")
    again(task.pk, proof)
    return task.pk


def again(task_id: int, proof: str = "see build 8") -> None:
    next_step(actor=PANEL)
    submit_for_human(actor=PANEL, task_id=task_id, proof=proof)


def test_a_step_that_waits_is_told_with_what_to_do_and_where(worker: Worker, receiver: Receiver):
    make_target(receiver.url)
    task = submitted()
    worker.turn()
    assert [(m["title"], m["message"]) for m in receiver.messages] == [
        (AWAITING.format(task), f"Plan: Release\n\n{SITE}/#task-{task}")
    ]


def test_a_blocked_step_is_told(worker: Worker, receiver: Receiver):
    make_target(receiver.url)
    task = make_task(make_plan(), title="Ship it")
    next_step(actor=PANEL)
    block_step(actor=PANEL, task_id=task.pk, reason="no key")
    worker.turn()
    assert receiver.titles == [f"Reset or skip step #{task.pk} of panel, which is blocked: Ship it"]


@pytest.mark.parametrize("verb", ["task_failed", "task_crashed"])
def test_a_failed_step_is_told(worker: Worker, receiver: Receiver, verb: str):
    make_target(receiver.url)
    task = make_task(make_plan(), status="failed", title="Ship it")
    Event.objects.create(
        actor="panel", verb=verb, subject=f"task:{task.pk}", data={"project": "panel"}
    )
    worker.turn()
    assert receiver.titles == [f"Reset or skip step #{task.pk} of panel, which failed: Ship it"]


def test_a_question_to_people_is_told_and_others_are_not(worker: Worker, receiver: Receiver):
    make_target(receiver.url)
    messages.ask(actor=PANEL, to="app", subject="not yours", body="b")
    messages.broadcast(actor=PANEL, subject="nobody's", body="b")
    number = messages.ask(actor=PANEL, to="human", subject="Which port?", body="80?").pk
    worker.turn()
    assert receiver.titles == [f"Answer question #{number} from panel: Which port?"]
    assert receiver.messages[0]["message"] == f"{SITE}/#question-{number}"


def test_bodies_are_sent_only_where_chosen(worker: Worker, receiver: Receiver):
    make_target(receiver.url, name="bare")
    make_target(receiver.url, name="full", with_bodies=True)
    submitted(proof="see build 7")
    messages.ask(actor=PANEL, to="human", subject="s", body="a long story " * 200)
    worker.turn()
    bodies = [message["message"] for message in receiver.messages]
    assert len(bodies) == 4
    assert sum("see build 7" in body for body in bodies) == 1
    told = [body for body in bodies if "a long story" in body]
    assert len(told) == 1
    assert len(told[0]) < 1100


@pytest.mark.parametrize(
    "choice",
    [{"occasions": ["failed", "blocked", "asked", "stale"]}, {"projects": ["app"]},
     {"enabled": False}],
    ids=["occasion", "project", "disabled"],
)  # fmt: skip
def test_what_was_not_chosen_is_not_told(worker: Worker, receiver: Receiver, choice: dict):
    make_target(receiver.url, **choice)
    submitted()
    worker.turn()
    assert receiver.tried == 0
    assert not Delivery.objects.exists()


def test_a_chosen_project_is_told(worker: Worker, receiver: Receiver):
    make_target(receiver.url, projects=["app", "panel"])
    submitted()
    messages.ask(actor=APP, to="human", subject="s", body="b")
    worker.turn()
    assert len(receiver.messages) == 2


def test_somebody_whose_account_is_closed_is_told_nothing(worker: Worker, receiver: Receiver):
    make_target(receiver.url)
    submitted()
    User.objects.update(is_active=False)
    worker.turn()
    assert receiver.tried == 0


def test_what_was_before_the_target_is_not_told(worker: Worker, receiver: Receiver):
    submitted()
    make_target(receiver.url)
    worker.turn()
    assert receiver.tried == 0


def test_what_was_while_the_target_was_disabled_is_not_told(worker: Worker, receiver: Receiver):
    target = make_target(receiver.url, enabled=False)
    submitted()
    target.enabled = True
    targets.save(target=target, url="", adding=False)
    worker.turn()
    assert receiver.tried == 0


def test_what_is_handled_within_the_delay_is_not_told(worker: Worker, receiver: Receiver, settings):
    settings.NOTIFY_DELAY_SECONDS = 60
    make_target(receiver.url)
    task = submitted()
    number = messages.ask(actor=PANEL, to="human", subject="s", body="b").pk
    worker.turn()
    validate_task(actor=PERSON, task_id=task)
    messages.answer(actor=PERSON, message_id=number, body="yes")
    Delivery.objects.update(next_try_at=timezone.now())
    worker.turn()
    assert receiver.tried == 0
    assert set(Delivery.objects.values_list("status", flat=True)) == {"dropped"}


def test_a_step_deleted_or_put_away_is_not_told(worker: Worker, receiver: Receiver):
    make_target(receiver.url)
    gone, archived = submitted(), make_task(make_plan(status="archived"), status="failed")
    Task.objects.filter(pk=gone).delete()
    Event.objects.create(
        actor="panel", verb="task_failed", subject=f"task:{archived.pk}", data={"project": "panel"}
    )
    worker.turn()
    assert receiver.tried == 0


def test_one_message_a_subject_however_often_it_comes_back(
    worker: Worker, receiver: Receiver, settings
):
    settings.NOTIFY_DELAY_SECONDS = 60
    make_target(receiver.url)
    task = submitted()
    worker.turn()
    reject_task(actor=PERSON, task_id=task, remark="again")
    again(task)
    worker.turn()
    assert list(Delivery.objects.order_by("pk").values_list("status", flat=True)) == [
        "dropped", "pending",
    ]  # fmt: skip
    Delivery.objects.update(next_try_at=timezone.now())
    worker.turn()
    assert receiver.titles == [AWAITING.format(task)]


def test_a_step_that_waits_anew_is_told_anew(worker: Worker, receiver: Receiver):
    make_target(receiver.url)
    task = submitted()
    worker.turn()
    reject_task(actor=PERSON, task_id=task, remark="again")
    again(task)
    worker.turn()
    assert receiver.titles == [AWAITING.format(task)] * 2


def test_the_feed_read_again_tells_nothing_twice(worker: Worker, receiver: Receiver):
    make_target(receiver.url)
    submitted()
    worker.turn()
    Duty.objects.update(cursor=0)
    worker.turn()
    assert len(receiver.messages) == 1


def late_event(task: Task, pk: int) -> None:
    Event.objects.create(
        pk=pk,
        at=timezone.now(),
        actor="panel",
        verb="task_failed",
        subject=f"task:{task.pk}",
        data={"project": "panel"},
    )


def test_an_event_committed_after_a_later_one_is_told_even_to_a_new_process(
    worker: Worker, receiver: Receiver
):
    make_target(receiver.url)
    first, second = (make_task(make_plan(), status="failed", title=t) for t in "ab")
    late_event(second, pk=1002)
    worker.turn()
    assert len(receiver.messages) == 1
    late_event(first, pk=1001)
    worker.stopping.set()  # killed; its lease runs out
    Duty.objects.update(expires_at=timezone.now() - dt.timedelta(seconds=1))
    successor = Worker(site=SITE)
    successor.turn()
    successor.turn()
    assert [title[-1] for title in receiver.titles] == ["b", "a"]


def test_agents_words_are_sent_as_text(worker: Worker, receiver: Receiver):
    make_target(receiver.url, with_bodies=True)
    messages.ask(actor=Actor.agent("panel"), to="human", subject="<b>x</b>", body="<i>y</i> & z")
    worker.turn()
    assert receiver.titles[0].endswith("<b>x</b>")
    assert "<i>y</i> & z" in receiver.messages[0]["message"]


def test_nobody_to_tell_costs_no_write(worker: Worker):
    worker.turn()
    submitted()
    before = Duty.objects.get()
    worker.turn()
    after = Duty.objects.get()
    assert (before.cursor, before.expires_at) == (after.cursor, after.expires_at)
    assert not Target.objects.exists()
