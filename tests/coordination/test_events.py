"""The event feed: what it gives its readers, and what age takes away."""

import datetime as dt

import pytest
from django.utils import timezone

from coordination.models import Event
from coordination.selectors import events as selectors
from coordination.services.events import prune

pytestmark = pytest.mark.django_db


def record(days: float = 0) -> int:
    at = timezone.now() - dt.timedelta(days=days)
    return Event.objects.create(at=at, actor="a", verb="v", subject="s").pk


def test_events_past_their_age_are_pruned_and_no_other(settings):
    settings.EVENT_RETENTION_DAYS = 7
    old = [record(8), record(7.5)]
    kept = [record(6.5), record()]
    assert prune() == len(old)
    assert list(Event.objects.order_by("pk").values_list("pk", flat=True)) == kept


def test_pruning_an_empty_or_a_young_feed_does_nothing():
    assert prune() == 0
    record()
    assert prune() == 0


def test_a_reader_goes_on_after_the_last_id_it_saw():
    first, second, third = record(), record(), record()
    assert selectors.last_event_id() == third
    assert [event.pk for event in selectors.events_after(first)] == [second, third]
    assert [event.pk for event in selectors.events_after(second, also=[first])] == [first, third]
