"""Nothing is sent in quiet hours, in the site's own time; what came meanwhile is sent after."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from coordination.services import messages
from notifications.models import Delivery, Target
from notifications.quiet import quiet_until
from notifications.services import targets
from notifications.worker import Worker
from tests.notifications.conftest import Receiver
from tests.notifications.factories import make_target
from tests.plans.factories import PANEL, PERSON

PARIS = ZoneInfo("Europe/Paris")


def local(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=PARIS)


def clock(text: str) -> dt.time:
    return dt.time.fromisoformat(text)


@pytest.mark.parametrize(
    ("start", "end", "now", "until"),
    [
        ("12:00", "14:00", "2026-06-01T11:59:59", None),
        ("12:00", "14:00", "2026-06-01T12:00", "2026-06-01T14:00"),
        ("12:00", "14:00", "2026-06-01T14:00", None),
        ("22:00", "08:00", "2026-06-01T23:30", "2026-06-02T08:00"),
        ("22:00", "08:00", "2026-06-02T03:00", "2026-06-02T08:00"),
        ("22:00", "08:00", "2026-06-02T08:00", None),
        ("22:00", "08:00", "2026-06-02T12:00", None),
        # clocks go forward at two, and back at three
        ("22:00", "08:00", "2026-03-28T23:00", "2026-03-29T08:00"),
        ("22:00", "08:00", "2026-10-24T23:00", "2026-10-25T08:00"),
    ],
)
def test_quiet_hours_end_where_they_say(start: str, end: str, now: str, until: str | None):
    with timezone.override(PARIS):
        found = quiet_until(clock(start), clock(end), local(now).astimezone(dt.UTC))
    assert found == (local(until) if until else None)


def test_no_quiet_hours_are_never_quiet():
    assert quiet_until(None, None, timezone.now()) is None


def around_now(target: Target) -> None:
    """Make the present minute quiet."""
    now, hour = timezone.localtime(), dt.timedelta(hours=1)
    times = {"quiet_from": (now - hour).time(), "quiet_to": (now + hour).time()}
    Target.objects.filter(pk=target.pk).update(**times)


@pytest.mark.django_db
def test_what_comes_in_quiet_hours_is_sent_after_them_unless_handled(
    worker: Worker, receiver: Receiver
):
    target = make_target(receiver.url)
    around_now(target)
    kept, handled = (
        messages.ask(actor=PANEL, to="human", subject=s, body="b").pk for s in ("kept", "handled")
    )
    worker.turn()
    assert receiver.tried == 0
    ends = Delivery.objects.values_list("next_try_at", flat=True)
    in_an_hour = timezone.now() + dt.timedelta(hours=1)
    assert all(abs(end - in_an_hour) < dt.timedelta(minutes=1) for end in ends)

    messages.answer(actor=PERSON, message_id=handled, body="done")
    Target.objects.update(quiet_from=None, quiet_to=None)
    Delivery.objects.update(next_try_at=timezone.now())
    worker.turn()
    assert receiver.titles == [f"Answer question #{kept} from panel: kept"]


@pytest.mark.django_db
def test_quiet_hours_taken_away_let_what_waits_go_at_once(worker: Worker, receiver: Receiver):
    target = make_target(receiver.url)
    around_now(target)
    messages.ask(actor=PANEL, to="human", subject="s", body="b")
    worker.turn()
    targets.save(target=target, url="", adding=False)
    worker.turn()
    assert len(receiver.messages) == 1


@pytest.mark.django_db
def test_one_persons_quiet_hours_are_not_anothers(worker: Worker, receiver: Receiver):
    around_now(make_target(receiver.url, name="asleep"))
    make_target(receiver.url, name="awake")
    messages.ask(actor=PANEL, to="human", subject="s", body="b")
    worker.turn()
    assert len(receiver.messages) == 1
