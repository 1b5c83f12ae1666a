"""A question that waits too long for a session that is away is told, once an absence."""

import datetime as dt

import pytest
from django.utils import timezone

from coordination.models import Message, Session
from coordination.services import messages, sessions
from notifications.models import Delivery, Target
from notifications.worker import Worker
from tests.notifications.conftest import SITE, Receiver
from tests.notifications.factories import make_target
from tests.plans.factories import PANEL, PERSON

pytestmark = pytest.mark.django_db


def asked(minutes_ago: int, to: str = "app") -> int:
    number = messages.ask(actor=PANEL, to=to, subject="Which port?", body="b").pk
    Message.objects.filter(pk=number).update(
        created_at=timezone.now() - dt.timedelta(minutes=minutes_ago)
    )
    return number


def seen(minutes_ago: int) -> None:
    at = timezone.now() - dt.timedelta(minutes=minutes_ago)
    Session.objects.filter(key="app").update(last_seen=at)


@pytest.fixture
def target(receiver: Receiver) -> Target:
    """A target of yesterday, told of questions that wait for half an hour."""
    made = make_target(receiver.url, stale_minutes=30)
    Target.objects.update(since=timezone.now() - dt.timedelta(days=1))
    return made


def test_a_question_that_waits_for_a_session_away_is_told_once(
    worker: Worker, receiver: Receiver, target: Target
):
    seen(minutes_ago=90)
    number = asked(minutes_ago=31)
    worker.turn()
    worker.turn()
    assert receiver.titles == [f"app is away; see to question #{number} from panel: Which port?"]
    assert receiver.messages[0]["message"] == f"{SITE}/#question-{number}"


def test_a_session_never_seen_is_away(worker: Worker, receiver: Receiver, target: Target):
    asked(minutes_ago=31)
    worker.turn()
    assert len(receiver.messages) == 1


@pytest.mark.parametrize(
    ("age", "last_seen"), [(29, 90), (31, 1), (31, 59)], ids=["young", "active", "idle"]
)
def test_a_young_question_or_a_session_that_is_there_is_not_told(
    worker: Worker, receiver: Receiver, target: Target, age: int, last_seen: int
):
    seen(minutes_ago=last_seen)
    asked(minutes_ago=age)
    worker.turn()
    assert receiver.tried == 0


def test_an_answered_question_and_one_to_another_project_are_not_told(
    worker: Worker, receiver: Receiver, target: Target
):
    messages.answer(actor=PERSON, message_id=asked(minutes_ago=31), body="7878")
    worker.turn()
    Target.objects.update(projects=["panel"])
    asked(minutes_ago=31)
    worker.turn()
    assert receiver.tried == 0


def test_a_question_older_than_the_target_is_not_told(worker: Worker, receiver: Receiver):
    make_target(receiver.url, stale_minutes=30)
    asked(minutes_ago=31)
    worker.turn()
    assert receiver.tried == 0


def test_a_session_that_comes_back_in_time_is_not_told_of_but_its_next_absence_is(
    worker: Worker, receiver: Receiver, target: Target, settings
):
    settings.NOTIFY_DELAY_SECONDS = 60
    seen(minutes_ago=90)
    asked(minutes_ago=31)
    worker.turn()
    sessions.stamp(session="app")
    Delivery.objects.update(next_try_at=timezone.now())
    worker.turn()
    assert receiver.tried == 0
    settings.NOTIFY_DELAY_SECONDS = 0
    seen(minutes_ago=61)
    worker.turn()
    assert len(receiver.messages) == 1


def test_a_question_that_was_told_is_not_told_again_at_the_next_absence(
    worker: Worker, receiver: Receiver, target: Target
):
    seen(minutes_ago=90)
    asked(minutes_ago=31)
    worker.turn()
    seen(minutes_ago=61)
    worker.turn()
    assert len(receiver.messages) == 1
