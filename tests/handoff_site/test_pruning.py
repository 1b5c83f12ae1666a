"""The web process deletes old events every day, in pieces, whatever the database's state."""

import datetime as dt
from collections.abc import Callable

import pytest
from django.db import OperationalError
from django.utils import timezone

from coordination.models import Event
from coordination.services import events
from handoff_site import pruning
from tests.conftest import wait_until


def old_events(number: int) -> None:
    at = timezone.now() - dt.timedelta(days=400)
    Event.objects.bulk_create(
        Event(at=at, actor="a", verb="v", subject="s") for _number in range(number)
    )


@pytest.fixture
def pruned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What became of each day's pruning; the first one fails."""
    done: list[str] = []

    def prune() -> int:
        done.append("failed" if not done else "pruned")
        if done == ["failed"]:
            raise OperationalError("database is locked")
        return 0

    monkeypatch.setattr(pruning, "prune", prune)
    monkeypatch.setattr(pruning.SessionStore, "clear_expired", lambda: None)
    return done


@pytest.mark.django_db
def test_many_old_events_go_in_pieces(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Callable
) -> None:
    monkeypatch.setattr(events, "BATCH", 10)
    old_events(25)
    kept = Event.objects.create(actor="a", verb="v", subject="s")
    with django_assert_num_queries(1 + 4 + 3):  # which is old; look, look, look, look; three pieces
        assert events.prune() == 25
    assert Event.objects.get() == kept


def test_a_failure_is_a_line_and_the_next_time_comes_sooner(
    pruned: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    pruner = pruning.Pruner(every=0.01, again=0.01)
    pruner.start()
    wait_until(lambda: len(pruned) >= 3, what="three prunings")
    pruner.stop()
    pruner.join(5)
    assert not pruner.is_alive()
    assert "old events stay for now: database is locked" in caplog.text


def test_a_stop_does_not_wait_for_the_next_day() -> None:
    pruner = pruning.Pruner()
    pruner.start()
    pruner.stop()
    pruner.join(5)
    assert not pruner.is_alive()
