"""What must hold in stored messages and events, whoever wrote them: `manage.py check_store`."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.models import Event, Message, MessageStatus, Session

SHOWN = 5
"""Numbers of rows that a finding names."""

CLOCK_SLACK = dt.timedelta(minutes=5)
PRUNING_SLACK = dt.timedelta(days=2)


class Weight(Enum):
    """How much a finding matters."""

    SOUND = "sound"  # looked at, and as it should be
    NOTE = "note"  # worth knowing; nothing is lost or wrong
    FAULT = "fault"  # must never be


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, in a sentence that says what to do about it."""

    weight: Weight
    sentence: str


def faults(rows: QuerySet[Any], sentence: str) -> Iterator[Finding]:
    """Yield a fault if there are such rows; `sentence` has {count} and {ids}."""
    yield from _found(Weight.FAULT, rows, sentence)


def notes(rows: QuerySet[Any], sentence: str) -> Iterator[Finding]:
    """Yield a note if there are such rows; `sentence` has {count} and {ids}."""
    yield from _found(Weight.NOTE, rows, sentence)


def findings() -> Iterator[Finding]:
    """Look at messages, sessions and the feed."""
    answers = Message.objects.filter(parent__isnull=False)
    parents = Message.objects.filter(pk=OuterRef("parent_id"))
    yield from faults(
        answers.filter(~Exists(parents)),
        _("{count} answers belong to a question that is gone ({ids})."),
    )
    yield from faults(
        answers.filter(Exists(parents.filter(parent__isnull=False))),
        _("{count} answers belong to an answer instead of a question ({ids})."),
    )
    yield from notes(
        Message.objects.filter(
            Exists(Message.objects.filter(parent=OuterRef("pk"))),
            parent__isnull=True,
            status=MessageStatus.OPEN,
        ),
        _("{count} questions count as open although they have an answer ({ids}): close or "
          "answer them."),
    )  # fmt: skip
    yield from notes(
        Session.objects.filter(last_seen__gt=timezone.now() + CLOCK_SLACK),
        _("{count} sessions were last seen in the future ({ids}): some machine's clock is wrong."),
    )
    kept = dt.timedelta(days=settings.EVENT_RETENTION_DAYS) + PRUNING_SLACK
    yield from notes(
        Event.objects.filter(at__lt=timezone.now() - kept),
        _("{count} events are past their age ({ids}): a web process deletes them at its start "
          "and every day; does one run?"),
    )  # fmt: skip


def _found(weight: Weight, rows: QuerySet[Any], sentence: str) -> Iterator[Finding]:
    rows = rows.order_by("pk")
    if count := rows.count():
        ids = ", ".join(f"#{pk}" for pk in rows.values_list("pk", flat=True)[:SHOWN])
        more = ", …" if count > SHOWN else ""
        yield Finding(weight, sentence.format(count=count, ids=ids + more))
