"""One sender at a time: a lease on one row."""

import datetime as dt

import pytest
from django.utils import timezone

from coordination.services import messages
from notifications.models import Delivery, Duty
from notifications.selectors.deliveries import due
from notifications.services import deliveries, duty
from notifications.worker import Worker
from tests.notifications.conftest import SITE, Receiver
from tests.notifications.factories import make_target
from tests.plans.factories import PANEL

pytestmark = pytest.mark.django_db


def expire() -> None:
    Duty.objects.update(expires_at=timezone.now() - dt.timedelta(seconds=1))


def asked() -> None:
    messages.ask(actor=PANEL, to="human", subject="s", body="b")


def test_one_takes_it_and_keeps_it_until_it_runs_out_or_is_released():
    assert duty.take(holder="a")
    assert not duty.take(holder="b")
    assert duty.take(holder="a")
    expire()
    assert not duty.keep(holder="a")
    assert duty.take(holder="b")
    duty.release(holder="a")  # not its own any more
    assert not duty.take(holder="a")
    duty.release(holder="b")
    assert duty.take(holder="a")


def test_a_new_holder_sends_again_what_the_dead_one_had_in_hand(worker: Worker, receiver: Receiver):
    make_target(receiver.url)
    asked()
    receiver.answers = [500]
    worker.turn()
    Delivery.objects.update(status="sending", next_try_at=timezone.now())
    expire()
    Worker(site=SITE).turn()
    assert Delivery.objects.get().status == "sent"
    assert len(receiver.messages) == 1


def test_one_who_lost_the_duty_writes_down_and_sends_nothing(worker: Worker, receiver: Receiver):
    make_target(receiver.url)
    worker.turn()
    asked()
    Duty.objects.update(holder="another")
    worker.turn()  # it still thinks that its lease holds
    assert not Delivery.objects.exists()
    assert receiver.tried == 0
    assert Duty.objects.get().holder == "another"


def test_one_who_lost_the_duty_cannot_claim_nor_settle(worker: Worker, receiver: Receiver):
    make_target(receiver.url, enabled=True)
    receiver.answers = [500]
    asked()
    worker.turn()
    Delivery.objects.update(next_try_at=timezone.now())
    (row,) = due(limit=1)
    assert not deliveries.claim(due=row, holder="another")
    assert deliveries.claim(due=row, holder=worker.holder)
    Delivery.objects.update(attempts=3)  # a later holder has it in hand
    deliveries.sent(due=row)
    assert Delivery.objects.get().status == "sending"


def test_a_turn_that_fails_is_told_in_one_line_and_the_next_goes_on(
    worker: Worker, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog
):
    turns = []

    def turn() -> None:
        turns.append(1)
        if len(turns) == 1:
            raise KeyError("a fault of ours")
        worker.stop()

    monkeypatch.setattr(worker, "turn", turn)
    monkeypatch.setattr("notifications.worker.TURN_SECONDS", 0)
    monkeypatch.setattr("notifications.worker.connection.close", lambda: None)
    worker.run()
    assert len(turns) == 2
    assert "this turn failed" in caplog.text
