"""Read the event feed."""

import datetime as dt
from collections.abc import Collection

from django.db.models import Max, Q

from coordination.models import Event


def last_event_id() -> int:
    """Return the newest event's id; 0 on an empty feed."""
    return Event.objects.aggregate(last=Max("id"))["last"] or 0


def events_after(last_id: int, *, also: Collection[int] = (), limit: int = 1000) -> list[Event]:
    """Return events past `last_id`, and those of `also` that have appeared, in id order.

    `also` are ids that were skipped over: on PostgreSQL a transaction that began earlier may
    commit later.
    """
    wanted = Q(pk__gt=last_id)
    if also:
        wanted |= Q(pk__in=also)
    return list(Event.objects.filter(wanted).order_by("pk")[:limit])


def first_after(last_id: int) -> dt.datetime | None:
    """Return when the oldest event past `last_id` happened; None when there is none."""
    later = Event.objects.filter(pk__gt=last_id).order_by("pk")
    return later.values_list("at", flat=True).first()


def recent(*, limit: int = 30) -> list[Event]:
    """Return what happened last, newest first: the board's activity."""
    return list(Event.objects.exclude(verb="seen").order_by("-pk")[:limit])
