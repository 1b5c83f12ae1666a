"""What reading an inbox costs does not grow with what is stored: it keeps to ranges of an index."""

import datetime as dt
import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.utils import timezone

from coordination.models import Message
from coordination.selectors import messages, sessions
from tests.plans.factories import PANEL
from tests.query_plans import know_the_tables, plans_of

pytestmark = pytest.mark.django_db

ROWS = 3000


@pytest.fixture(autouse=True)
def many() -> None:
    """Fill an inbox with settled and open questions, to panel and to everyone."""
    now = timezone.now()
    Message.objects.bulk_create(
        Message(
            from_session_id="app", to_session_id=("panel", None)[n % 2], subject=f"Q{n}",
            subject_folded=f"q{n}", body="b", status="closed" if n < ROWS * 0.8 else "open",
            created_at=now + dt.timedelta(seconds=n),
        )
        for n in range(ROWS)
    )  # fmt: skip
    know_the_tables("coordination_message")


def ways_of(read: Callable[[], object]) -> list[str]:
    """Return how the engine finds messages, each time that a query looks for some."""
    return [way for plan in plans_of(read) for way in ways_in(plan)]


def ways_in(plan: str) -> list[str]:
    """Return the parts of one query's plan that look for messages."""
    each = r".*coordination_message.*(?:\n.*Cond: .*)?"
    return [way.strip(" ->") for way in re.findall(each, plan)]


def counts_in_the_inbox(way: str) -> bool:
    """Tell whether rows are counted in the inbox's index alone, in a range of both its columns."""
    if connection.vendor == "sqlite":
        return "USING COVERING INDEX question_inbox (to_session_id=? AND status=?)" in way
    return bool(re.match("Index Only Scan.* question_inbox .*\n.*to_session_id.*status", way))


def reads_a_range(way: str) -> bool:
    """Tell whether only questions in the state asked for are read, in order."""
    if connection.vendor == "sqlite":
        return "question_inbox (to_session_id=? AND status=?)" in way
    return bool(re.match("Index Scan .*\n.*Cond: .*status", way))


def test_what_waits_for_an_agent_is_counted_in_an_index_alone():
    ways = ways_of(lambda: messages.open_count(session=PANEL.session))
    assert len(ways) == 2
    assert all(map(counts_in_the_inbox, ways)), ways


def test_an_inbox_reads_a_page_of_an_index_and_counts_in_it():
    ways = ways_of(lambda: messages.inbox(session=PANEL.session))
    assert len(ways) == 4
    assert all(map(counts_in_the_inbox, ways[:2])), ways
    assert all(map(reads_a_range, ways[2:])), ways


def test_what_waits_for_stale_sessions_is_counted_in_an_index_alone():
    *_ways, counted = ways_of(sessions.health)
    assert counts_in_the_inbox(counted), counted


@pytest.mark.parametrize(
    ("read", "addressees"),
    [
        (sessions.health, 2),
        (lambda: messages.waiting_for_people(stale=["panel", "app"]), 3),
    ],
    ids=["health", "for people"],
)
def test_what_waits_for_each_stale_session_is_a_page_of_its_inbox(read, addressees):
    found = [plan for plan in plans_of(read) if "question_" in plan][:addressees]
    assert len(found) == addressees
    for plan in found:
        (way,) = ways_in(plan)
        assert counts_in_the_inbox(way), plan
        assert not re.search("sort|temp", plan, re.IGNORECASE), plan


def test_a_thread_reads_its_own_answers_only():
    question = Message.objects.earliest("id")
    (answers,) = ways_of(lambda: messages.thread(message_id=question.pk))[2:]
    assert "message_thread" in answers
    assert "parent_id" in answers
