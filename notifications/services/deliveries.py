"""The life of one notification: written down, handed over, sent, tried again, given up."""

import datetime as dt

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from notifications.models import ERROR_MAX, UNSENT, Delivery, DeliveryStatus, Target
from notifications.selectors.deliveries import Due
from notifications.services import duty

ATTEMPTS_MAX = 10
KEPT = dt.timedelta(days=2)
"""How long a notification is tried for: later, people have seen it on the board."""
RETRY_SECONDS_MAX = 1800


def enqueue(*, target_id: int, occasion: str, subject: str, event: int) -> None:
    """Write down one notification, in place of an unsent one of the same subject.

    Call it in the transaction that notes how far the feed was read. An event that was read
    before changes nothing.
    """
    known = Delivery.objects.filter(
        target=target_id, occasion=occasion, subject=subject, event=event
    )
    if known.exists():
        return
    Delivery.objects.filter(target=target_id, subject=subject, status__in=UNSENT).update(
        status=DeliveryStatus.DROPPED, finished_at=timezone.now()
    )
    Delivery.objects.create(
        target_id=target_id,
        occasion=occasion,
        subject=subject,
        event=event,
        next_try_at=timezone.now() + dt.timedelta(seconds=settings.NOTIFY_DELAY_SECONDS),
    )


def claim(*, due: Due, holder: str) -> bool:
    """Begin to hand one over; False when the duty or the notification is not ours any more."""
    with transaction.atomic():
        if not duty.keep(holder=holder):
            return False
        now = timezone.now()
        rows = Delivery.objects.filter(
            pk=due.id, status=DeliveryStatus.PENDING, next_try_at__lte=now
        )
        return bool(rows.update(status=DeliveryStatus.SENDING, attempts=F("attempts") + 1))


def sent(*, due: Due) -> None:
    """Note that the service took it."""
    now = timezone.now()
    with transaction.atomic():
        _in_hand(due).update(status=DeliveryStatus.SENT, finished_at=now, last_error="")
        Target.objects.filter(pk=due.target_id).update(failures=0, last_error="", last_sent_at=now)


def not_sent(*, due: Due, reason: str) -> None:
    """Note why it was not taken, and when to try again, it and all else for that target."""
    now = timezone.now()
    reason = reason[:ERROR_MAX]
    again = now + retry_delay(max(due.attempts, due.failures) + 1)
    over = due.attempts + 1 >= ATTEMPTS_MAX or now - due.created_at > KEPT
    with transaction.atomic():
        if over:
            _in_hand(due).update(
                status=DeliveryStatus.FAILED, finished_at=now, last_error=reason, next_try_at=None
            )
        else:
            _in_hand(due).update(
                status=DeliveryStatus.PENDING, next_try_at=again, last_error=reason
            )
        Target.objects.filter(pk=due.target_id).update(
            failures=F("failures") + 1, last_error=reason
        )
        postpone(target_id=due.target_id, until=again)


def drop(*, due: Due) -> None:
    """Note that there is nothing left to tell."""
    Delivery.objects.filter(pk=due.id, status=DeliveryStatus.PENDING).update(
        status=DeliveryStatus.DROPPED, finished_at=timezone.now(), next_try_at=None
    )


def postpone(*, target_id: int, until: dt.datetime) -> None:
    """Send nothing more to a target before `until`."""
    Delivery.objects.filter(
        target=target_id, status=DeliveryStatus.PENDING, next_try_at__lt=until
    ).update(next_try_at=until)


def retry_delay(failures: int) -> dt.timedelta:
    """Return how long to wait after so many failures: doubling, half an hour at most."""
    seconds = settings.NOTIFY_RETRY_SECONDS * 2 ** min(failures - 1, 20)
    return dt.timedelta(seconds=min(seconds, RETRY_SECONDS_MAX))


def prune() -> int:
    """Delete finished notifications as old as the oldest events kept; return how many."""
    before = timezone.now() - dt.timedelta(days=settings.EVENT_RETENTION_DAYS)
    finished = Delivery.objects.filter(created_at__lt=before).exclude(status__in=UNSENT)
    deleted, _rows = finished.delete()
    return deleted


def _in_hand(due: Due) -> QuerySet[Delivery]:
    """Return the row, if it is still this very attempt: a duty that was lost settles nothing."""
    return Delivery.objects.filter(
        pk=due.id, status=DeliveryStatus.SENDING, attempts=due.attempts + 1
    )
