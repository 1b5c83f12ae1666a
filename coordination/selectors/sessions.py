"""Sessions, and how lately each was seen."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection, models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from coordination.models import HUMAN, Message, MessageStatus, Session

ACTIVE_SECONDS = 300
IDLE_SECONDS = 3600
COUNT_CAP = 1_000
"""Counting stops here, so that a huge backlog costs no more than a large one."""
STALE_SHOWN = 20
"""Open questions to stale sessions that one answer lists; the total is given besides."""


class Bucket(models.TextChoices):
    """Presence, by the age of the last tool call alone."""

    ACTIVE = "active", _("active")
    IDLE = "idle", _("idle")
    STALE = "stale", _("stale")


@dataclass(frozen=True, slots=True)
class Total:
    """How many there are; where a count was capped, at least so many."""

    count: int
    capped: bool

    @classmethod
    def of(cls, *counts: int) -> "Total":
        """Add up counts, each of which stopped one past `COUNT_CAP`."""
        return cls(sum(min(n, COUNT_CAP) for n in counts), any(n > COUNT_CAP for n in counts))

    def __str__(self) -> str:
        return f"{self.count}+" if self.capped else str(self.count)


@dataclass(frozen=True, slots=True)
class Presence:
    """One agent session and its age in whole seconds; None when it was never seen."""

    key: str
    last_seen: dt.datetime | None
    age: int | None
    bucket: Bucket


@dataclass(frozen=True, slots=True)
class WaitingQuestion:
    """An open question whose addressee is stale."""

    id: int
    from_session: str
    to_session: str
    subject: str
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Health:
    """Every agent session by presence, and what waits for the stale ones."""

    sessions: list[Presence]
    summary: dict[str, int]
    waiting: list[WaitingQuestion]
    waiting_total: Total


def is_known(key: str) -> bool:
    """Tell whether a participant exists.

    Plain SQL, for both engines: each question asks this first, and building the same query anew
    was a sixth of a whole mf_ask.
    """
    if not key.isprintable():
        return False  # PostgreSQL takes no NUL, even to look for it
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM coordination_session WHERE key = %s", [key])
        return cursor.fetchone() is not None


def sessions() -> list[Session]:
    """Return every session in board order, `human` included."""
    return list(Session.objects.all())


def agent_sessions() -> list[Session]:
    """Return the sessions that agents work under, in board order: the board's columns."""
    return list(Session.objects.exclude(key=HUMAN))


def bucket_of(last_seen: dt.datetime | None, now: dt.datetime) -> Bucket:
    """Return the bucket of a heartbeat; the bounds belong to the livelier one."""
    age = age_of(last_seen, now)
    if age is None or age > IDLE_SECONDS:
        return Bucket.STALE
    return Bucket.ACTIVE if age <= ACTIVE_SECONDS else Bucket.IDLE


def age_of(last_seen: dt.datetime | None, now: dt.datetime) -> int | None:
    """Return whole seconds since `last_seen`; a clock that runs ahead counts as now."""
    return None if last_seen is None else max(0, int((now - last_seen).total_seconds()))


def health(*, now: dt.datetime | None = None) -> Health:
    """Return the presence of every agent session, most lately seen first."""
    now = now or timezone.now()
    rows = [
        Presence(s.key, s.last_seen, age_of(s.last_seen, now), bucket_of(s.last_seen, now))
        for s in agent_sessions()
    ]
    rows.sort(key=lambda row: (row.age is None, row.age or 0, row.key))
    stale = [row.key for row in rows if row.bucket == Bucket.STALE]
    counts = Counter(row.bucket for row in rows)
    return Health(
        sessions=rows,
        summary={bucket.value: counts[bucket] for bucket in Bucket},
        waiting=_waiting(stale),
        waiting_total=_waiting_total(stale),
    )


def oldest_open(*, to: Sequence[str], limit: int) -> list[int]:
    """Return the ids of the oldest open questions to any of the sessions `to`.

    One page of the inbox's index for each session: SQLite would look for them all at once among
    the open questions to everyone else.
    """
    found: list[tuple[object, int]] = []
    with connection.cursor() as cursor:
        for key in to:
            cursor.execute(_OLDEST_OPEN, [key, limit])
            found += cursor.fetchall()
    return [number for _created_at, number in sorted(found)[:limit]]


_OLDEST_OPEN = """
    SELECT created_at, id FROM coordination_message
    WHERE parent_id IS NULL AND status = 'open' AND to_session_id = %s
    ORDER BY created_at, id LIMIT %s
"""


def _waiting(stale: list[str]) -> list[WaitingQuestion]:
    rows = Message.objects.filter(pk__in=oldest_open(to=stale, limit=STALE_SHOWN))
    values = rows.order_by("created_at", "id").values_list(
        "id", "from_session", "to_session", "subject", "created_at"
    )
    return [WaitingQuestion(*row) for row in values]


def _waiting_total(stale: list[str]) -> Total:
    waiting = Message.objects.filter(
        parent__isnull=True, status=MessageStatus.OPEN, to_session__in=stale
    )
    return Total.of(waiting.order_by()[: COUNT_CAP + 1].count())
