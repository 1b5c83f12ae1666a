"""Sessions: their heartbeat, their health, what may be changed and what not."""

import datetime as dt

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from coordination.actors import Actor
from coordination.errors import Conflict, NotFound
from coordination.models import Event, Session
from coordination.selectors import sessions as selectors
from coordination.services import messages, sessions

pytestmark = pytest.mark.django_db

ADA = Actor.human("ada")
NOW = timezone.now()


def seen(key: str, seconds: float | None) -> None:
    moment = None if seconds is None else NOW - dt.timedelta(seconds=seconds)
    Session.objects.filter(key=key).update(last_seen=moment)


def test_a_new_database_has_its_first_participants():
    assert [session.key for session in selectors.sessions()] == ["panel", "app", "human"]
    assert [session.key for session in selectors.agent_sessions()] == ["panel", "app"]


@pytest.mark.parametrize(
    ("age", "bucket"),
    [(0, "active"), (300, "active"), (301, "idle"), (3600, "idle"), (3601, "stale"),
     (None, "stale"), (-60, "active")],
)  # fmt: skip
def test_the_bounds_belong_to_the_livelier_bucket(age: float | None, bucket: str):
    seen("panel", age)
    health = selectors.health(now=NOW)
    assert {row.key: row.bucket for row in health.sessions}["panel"] == bucket
    assert sum(health.summary.values()) == 2


def test_human_has_no_heartbeat():
    assert "human" not in [row.key for row in selectors.health().sessions]


def test_open_questions_to_stale_sessions_are_named():
    number = messages.ask(actor=Actor.agent("app"), to="panel", subject="s", body="b").pk
    seen("app", 0)
    seen("panel", 4000)
    assert [question.id for question in selectors.health(now=NOW).waiting] == [number]
    seen("panel", 0)
    assert selectors.health(now=NOW).waiting == []


def test_a_call_stamps_and_is_announced_once_a_minute():
    assert sessions.stamp(session="panel")
    assert sessions.stamp(session="panel")
    assert Event.objects.filter(verb="seen", subject="session:panel").count() == 1
    Session.objects.update(last_seen=timezone.now() - dt.timedelta(seconds=61))
    assert sessions.stamp(session="panel")
    assert Event.objects.filter(verb="seen").count() == 2


def test_an_unknown_session_is_not_stamped():
    assert not sessions.stamp(session="nobody")
    assert not Event.objects.exists()


def test_a_session_is_one_row_more():
    sessions.save(actor=ADA, session=Session(key="docs", position=15), adding=True)
    assert [session.key for session in selectors.agent_sessions()] == ["panel", "docs", "app"]
    assert Event.objects.get().actor == "human:ada"


@pytest.mark.parametrize("key", ["", "a b", "é", "x" * 41, "../x", "panel"])
def test_a_bad_or_taken_key_is_refused(key: str):
    with pytest.raises(ValidationError):
        sessions.save(actor=ADA, session=Session(key=key), adding=True)
    assert not Event.objects.exists()


def test_a_change_leaves_the_heartbeat_alone():
    stale_copy = Session.objects.get(key="panel")
    sessions.stamp(session="panel")
    stale_copy.color = "#123456"
    sessions.save(actor=ADA, session=stale_copy, adding=False)
    found = Session.objects.get(key="panel")
    assert found.color == "#123456"
    assert found.last_seen is not None


def test_a_change_leaves_alone_what_it_does_not_name():
    mine, theirs = Session.objects.get(key="panel"), Session.objects.get(key="panel")
    theirs.description = "Theirs"
    sessions.save(actor=ADA, session=theirs, adding=False, fields=["description"])
    mine.color = "#123456"
    sessions.save(actor=ADA, session=mine, adding=False, fields=["color"])
    found = Session.objects.get(key="panel")
    assert (found.color, found.description) == ("#123456", "Theirs")


def test_a_change_of_a_deleted_session_is_refused():
    copy = Session.objects.get(key="panel")
    Session.objects.filter(key="panel").delete()
    with pytest.raises(NotFound, match="panel"):
        sessions.save(actor=ADA, session=copy, adding=False)
    with pytest.raises(NotFound, match="panel"):
        sessions.save(actor=ADA, session=copy, adding=False, fields=[])


def test_human_and_sessions_with_messages_stay():
    messages.broadcast(actor=Actor.agent("panel"), subject="s", body="b")
    for key in ("human", "panel"):
        with pytest.raises(Conflict, match=key):
            sessions.delete(actor=ADA, key=key)
    sessions.delete(actor=ADA, key="app")
    assert [session.key for session in selectors.sessions()] == ["panel", "human"]


@pytest.mark.parametrize(("color", "hue"), [("#ff0000", 0), ("#00ff00", 120), ("#0000ff", 240)])
def test_the_hue_follows_the_colour(color: str, hue: int):
    assert Session(color=color).hue == hue
