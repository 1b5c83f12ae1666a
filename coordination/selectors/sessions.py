"""Sessions, and how lately each was seen."""

import datetime as dt
from collections import Counter
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
    waiting_total: int


def is_known(key: str) -> bool:
    """Tell whether a participant exists.

    Plain SQL, for both engines: each question asks this first, and building the same query anew
    was a sixth of a whole mf_ask.
    """
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
    waiting = Message.objects.filter(
        parent__isnull=True, status=MessageStatus.OPEN, to_session__in=stale
    )
    shown = waiting.order_by("created_at", "id").values_list(
        "id", "from_session", "to_session", "subject", "created_at"
    )[:STALE_SHOWN]
    counts = Counter(row.bucket for row in rows)
    return Health(
        sessions=rows,
        summary={bucket.value: counts[bucket] for bucket in Bucket},
        waiting=[WaitingQuestion(*values) for values in shown] if stale else [],
        waiting_total=waiting.order_by()[:COUNT_CAP].count() if stale else 0,
    )
