"""Inbox, history, threads."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from coordination.errors import NotFound
from coordination.models import HUMAN, Message, MessageStatus
from coordination.selectors.search import newest_matching
from coordination.selectors.sessions import COUNT_CAP, Total, oldest_open
from coordination.text import fold

INBOX_ORDER = (MessageStatus.OPEN, MessageStatus.ANSWERED, MessageStatus.CLOSED)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as lists show it; `to_session` is None for everyone."""

    id: int
    from_session: str
    to_session: str | None
    subject: str
    body: str
    status: str
    created_at: dt.datetime
    resolved_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a thread."""

    id: int
    author: str
    body: str
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Thread:
    """A question and its answers, oldest first."""

    question: Question
    answers: list[Answer]


@dataclass(frozen=True, slots=True)
class Page:
    """The first rows of a list and how many there are."""

    items: list[Question]
    total: Total


_QUESTION_FIELDS = (
    "id", "from_session_id", "to_session_id", "subject", "body", "status",
    "created_at", "resolved_at",
)  # fmt: skip


def inbox(*, session: str, status: str = MessageStatus.OPEN, limit: int = 50) -> Page:
    """Return questions to `session` or to everyone, not its own, oldest open first.

    `status` is a message status, or "all". Each part of the answer reads one index range, so
    that a million messages cost what a thousand do.
    """
    statuses = INBOX_ORDER if status == "all" else (MessageStatus(status),)
    items: list[Question] = []
    counts: list[int] = []
    for one in statuses:
        parts = _addressed(session, one)
        counts += [part.order_by()[: COUNT_CAP + 1].count() for part in parts]
        if len(items) < limit:
            rows = [
                row
                for part in parts
                for row in _questions(part.order_by("created_at", "id"), limit)
            ]
            rows.sort(key=lambda row: (row.created_at, row.id))
            items += rows[: limit - len(items)]
    return Page(items, Total.of(*counts))


def open_count(*, session: str) -> Total:
    """Count the open questions that wait for `session`.

    Plain SQL, for both engines: most replies to agents carry this count, and building the same
    query anew each time took longer than the question it came with.
    """
    with connection.cursor() as cursor:
        cursor.execute(_OPEN_COUNT, [session, COUNT_CAP + 1, session, COUNT_CAP + 1])
        return Total.of(*cursor.fetchone())


_OPEN_COUNT = """
    SELECT (SELECT count(*) FROM (SELECT 1 FROM coordination_message
             WHERE parent_id IS NULL AND status = 'open' AND to_session_id = %s
             LIMIT %s) AS own),
           (SELECT count(*) FROM (SELECT 1 FROM coordination_message
             WHERE parent_id IS NULL AND status = 'open' AND to_session_id IS NULL
               AND from_session_id <> %s
             LIMIT %s) AS for_everyone)
"""


def history(
    *,
    subject_contains: str = "",
    from_session: str = "",
    to_session: str = "",
    status: str = "",
    limit: int = 20,
) -> list[Question]:
    """Return questions that match every filter given, newest first."""
    given = {
        "from_session_id": from_session,
        "to_session_id": to_session,
        "status": "" if status == "all" else status,
    }
    equal = {column: value for column, value in given.items() if value}
    if needle := fold(subject_contains):
        found = newest_matching(needle=needle, equal=equal, limit=limit)
        rows = Message.objects.filter(pk__in=found)
    else:
        rows = Message.objects.filter(parent__isnull=True, **equal)
    return _questions(rows.order_by("-created_at", "-id"), limit)


def thread(*, message_id: int) -> Thread:
    """Return the thread of a question, or of one of its answers.

    Raises:
        NotFound: no such message.
    """
    # Two look-ups by primary key: one query with an OR over both would read the whole table.
    parents = Message.objects.filter(pk=message_id).values_list("parent_id", flat=True)
    root_id = next((parent or message_id for parent in parents), None)
    found = _questions(Message.objects.filter(pk=root_id).order_by("id"), 1) if root_id else []
    if not found:
        raise NotFound(
            _("message #{id} does not exist; mf_inbox and mf_history list the ids.").format(
                id=message_id
            )
        )
    answers = (
        Message.objects.filter(parent=found[0].id)
        .order_by("created_at", "id")
        .values_list("id", "from_session_id", "body", "created_at")
    )
    return Thread(found[0], [Answer(*row) for row in answers])


def waiting_for_people(*, stale: Sequence[str], limit: int = 100) -> list[Question]:
    """Return the open questions that a person should see to, oldest first.

    Those to `human`, and those whose addressee is `stale`: nobody else will answer them.
    """
    rows = Message.objects.filter(pk__in=oldest_open(to=[HUMAN, *stale], limit=limit))
    return _questions(rows.order_by("created_at", "id"), limit)


def _addressed(session: str, status: MessageStatus) -> tuple[QuerySet[Message], QuerySet[Message]]:
    """Return what is addressed to `session`, and what is to everyone: one index range each."""
    rows = Message.objects.filter(parent__isnull=True, status=status)
    return (
        rows.filter(to_session=session),
        rows.filter(to_session__isnull=True).exclude(from_session=session),
    )


def _questions(rows: QuerySet[Message], limit: int) -> list[Question]:
    return [Question(*row) for row in rows.values_list(*_QUESTION_FIELDS)[:limit]]
