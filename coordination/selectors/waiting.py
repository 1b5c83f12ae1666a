"""Questions that nobody has answered, by how long they have waited."""

import datetime as dt
from dataclasses import dataclass

from django.utils import timezone

from coordination.models import Message, MessageStatus


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """An open question; `to_session` is None for everyone."""

    id: int
    from_session: str
    to_session: str | None
    subject: str
    created_at: dt.datetime
    seconds: int  # since it was asked


def waiting_longest(
    *, limit: int = 10, at_least: int = 0, now: dt.datetime | None = None
) -> list[OpenQuestion]:
    """Return the open questions that have waited `at_least` so many seconds, oldest first."""
    now = now or timezone.now()
    rows = Message.objects.filter(parent__isnull=True, status=MessageStatus.OPEN)
    if at_least:
        rows = rows.filter(created_at__lte=now - dt.timedelta(seconds=at_least))
    found = rows.order_by("created_at", "id").values_list(
        "id", "from_session_id", "to_session_id", "subject", "created_at"
    )[:limit]
    return [OpenQuestion(*row, max(0, int((now - row[4]).total_seconds()))) for row in found]
