"""What is to be sent now."""

import datetime as dt
from dataclasses import dataclass

from django.utils import timezone

from notifications.models import Delivery, DeliveryStatus


@dataclass(frozen=True, slots=True)
class Due:
    """A notification whose time has come, with what its target says about sending."""

    id: int
    target_id: int
    occasion: str
    subject: str
    attempts: int
    created_at: dt.datetime
    sealed_url: str
    with_bodies: bool
    quiet_from: dt.time | None
    quiet_to: dt.time | None
    failures: int


_FIELDS = (
    "id", "target_id", "occasion", "subject", "attempts", "created_at", "target__sealed_url",
    "target__with_bodies", "target__quiet_from", "target__quiet_to", "target__failures",
)  # fmt: skip


def due(*, limit: int) -> list[Due]:
    """Return what to send now, the least tried first: one that is refused holds up no other."""
    rows = Delivery.objects.filter(
        status=DeliveryStatus.PENDING,
        next_try_at__lte=timezone.now(),
        target__enabled=True,
        target__user__is_active=True,
    )
    return [Due(*row) for row in rows.order_by("attempts", "pk").values_list(*_FIELDS)[:limit]]
