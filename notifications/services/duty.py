"""Who sends: one process at a time, by a lease on one row, as a validation is held."""

import datetime as dt
import secrets

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from notifications.models import Delivery, DeliveryStatus, Duty

ROW = 1


def new_holder() -> str:
    """Return a name for a process that wants the duty."""
    return secrets.token_hex(16)


def is_held() -> bool:
    """Tell whether some process sends now."""
    return Duty.objects.filter(pk=ROW, expires_at__gt=timezone.now()).exists()


def take(*, holder: str) -> bool:
    """Take the duty when it is free, or keep it; False while another process has it.

    What a dead holder was handing over goes back to be sent: whether its service had taken it,
    nobody knows. Holders send one at a time, so that is one message at most.
    """
    others = Duty.objects.exclude(holder=holder)
    if others.filter(pk=ROW, expires_at__gt=timezone.now()).exists():
        return False  # without asking for the write lock: a process that waits asks every second
    with transaction.atomic():
        Duty.objects.get_or_create(pk=ROW)
        if keep(holder=holder):
            return True
        now = timezone.now()
        free = Duty.objects.filter(pk=ROW, expires_at__lte=now)
        taken = free.update(holder=holder, expires_at=_end(now))
        if taken:
            Delivery.objects.filter(status=DeliveryStatus.SENDING).update(
                status=DeliveryStatus.PENDING, next_try_at=now
            )
        return bool(taken)


def keep(*, holder: str) -> bool:
    """Renew the lease of its holder; False once it has run out or another process has it."""
    now = timezone.now()
    rows = Duty.objects.filter(pk=ROW, holder=holder, expires_at__gt=now)
    return bool(rows.update(expires_at=_end(now)))


def release(*, holder: str) -> None:
    """Let another process begin at once."""
    Duty.objects.filter(pk=ROW, holder=holder).update(expires_at=timezone.now())


def cursor() -> int:
    """Return the last event up to which everything was read."""
    return Duty.objects.values_list("cursor", flat=True).get(pk=ROW)


def advance(*, holder: str, to: int) -> bool:
    """Note how far the feed was read; False when the duty is another's. In a transaction."""
    return bool(Duty.objects.filter(pk=ROW, holder=holder).update(cursor=to))


def _end(now: dt.datetime) -> dt.datetime:
    return now + dt.timedelta(seconds=settings.LEASE_SECONDS)
