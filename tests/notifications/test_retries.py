"""What a service refuses is tried again, later and later, for a bounded time."""

import datetime as dt
import socket

import pytest
from django.utils import timezone

from coordination.services import messages
from notifications.models import Delivery, DeliveryStatus, Target
from notifications.services import deliveries
from notifications.worker import Worker
from tests.notifications.conftest import Receiver
from tests.notifications.factories import make_target
from tests.plans.factories import PANEL

pytestmark = pytest.mark.django_db


def asked(subject: str = "s") -> None:
    messages.ask(actor=PANEL, to="human", subject=subject, body="b")


def due_now() -> None:
    Delivery.objects.filter(status="pending").update(next_try_at=timezone.now())


def test_a_refused_message_is_sent_when_the_service_takes_it(
    worker: Worker, receiver: Receiver, settings
):
    receiver.answers = [500, 503]
    make_target(receiver.url)
    asked()
    waits = []
    for _ in range(2):
        worker.turn()
        row = Delivery.objects.get()
        waits.append((row.next_try_at - timezone.now()).total_seconds())
        due_now()
    assert waits == pytest.approx([15, 30], abs=2)
    assert Target.objects.get().failures == 2
    assert "50" in Target.objects.get().last_error
    worker.turn()
    row, target = Delivery.objects.get(), Target.objects.get()
    assert (row.status, row.attempts, row.last_error) == ("sent", 3, "")
    assert (target.failures, target.last_error) == (0, "")
    assert target.last_sent_at
    assert len(receiver.messages) == 1


def test_delays_double_up_to_half_an_hour():
    seconds = [deliveries.retry_delay(n).total_seconds() for n in range(1, 40)]
    assert seconds[:4] == [15, 30, 60, 120]
    assert max(seconds) == seconds[-1] == 1800


def test_it_is_given_up_after_ten_attempts(worker: Worker, receiver: Receiver):
    receiver.answers = [500] * 20
    make_target(receiver.url)
    asked()
    for _ in range(12):
        worker.turn()
        due_now()
    row = Delivery.objects.get()
    assert (row.status, row.attempts, receiver.tried) == ("failed", 10, 10)
    assert row.last_error


def test_it_is_given_up_after_two_days(worker: Worker, receiver: Receiver):
    receiver.answers = [500] * 5
    make_target(receiver.url)
    asked()
    worker.turn()
    Delivery.objects.update(created_at=timezone.now() - dt.timedelta(days=3))
    due_now()
    worker.turn()
    assert Delivery.objects.get().status == "failed"


def test_a_target_that_is_down_is_tried_once_a_delay_and_holds_up_nobody(
    worker: Worker, receiver: Receiver
):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and never listens
        make_target(f"json://127.0.0.1:{closed.getsockname()[1]}/s3cr3t", name="down")
        make_target(receiver.url, name="up")
        for number in range(5):
            asked(str(number))
        worker.turn()
    assert len(receiver.messages) == 5
    down = Delivery.objects.filter(target__name="down")
    assert sorted(down.values_list("attempts", flat=True)) == [0, 0, 0, 0, 1]
    assert all(at > timezone.now() for at in down.values_list("next_try_at", flat=True))


def test_a_message_that_one_service_refuses_holds_up_no_other(worker: Worker, receiver: Receiver):
    receiver.answers = [500]
    make_target(receiver.url)
    asked("refused")
    asked("fine")
    worker.turn()
    due_now()
    worker.turn()
    assert [title[-4:] for title in receiver.titles] == ["fine", "used"]


def test_a_service_that_never_answers_is_left_after_the_bound(
    worker: Worker, receiver: Receiver, settings
):
    settings.LEASE_SECONDS = 1
    receiver.open.clear()
    make_target(receiver.url)
    asked()
    worker.turn()
    assert Delivery.objects.get().status == "pending"
    assert "0.5 s" in Target.objects.get().last_error


def test_the_error_has_nothing_of_the_address(worker: Worker, receiver: Receiver):
    receiver.answers = [404]
    make_target(receiver.url)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        make_target(f"json://tok3nuser:tok3npass@127.0.0.1:{port}/hook-s3cr3t?+X-K=tok3nkey")
        asked()
        worker.turn()
    errors = list(Target.objects.order_by("pk").values_list("last_error", flat=True))
    assert "404" in errors[0]
    assert "JSON" in errors[1]
    for said in errors:
        assert not any(part in said for part in ("s3cr3t", "tok3n", "127.0.0.1", str(port)))


def test_old_notifications_are_pruned_and_unsent_ones_kept(worker: Worker, receiver: Receiver):
    target = make_target(receiver.url, enabled=False)
    old = timezone.now() - dt.timedelta(days=31)
    for number, status in enumerate(DeliveryStatus.values):
        for at in (old, timezone.now()):
            Delivery.objects.create(
                target=target,
                occasion="asked",
                subject=f"message:{number}{at:%m%d}",
                status=status,
                created_at=at,
            )
    assert deliveries.prune() == 3
    kept = Delivery.objects.filter(created_at=old).values_list("status", flat=True)
    assert set(kept) == {"pending", "sending"}
