"""Keep the event feed from growing for ever."""

import datetime as dt

from django.conf import settings
from django.utils import timezone

from coordination.models import Event

BATCH = 5000
"""Events deleted in one transaction: agents that write meanwhile wait for one at most."""


def prune() -> int:
    """Delete events past their age; return how many.

    By id up to the newest old one: one range of the primary key, and the feed's readers, which
    follow ids, never see a hole in the middle.
    """
    before = timezone.now() - dt.timedelta(days=settings.EVENT_RETENTION_DAYS)
    newest = (
        Event.objects.filter(at__lt=before).order_by("-at").values_list("pk", flat=True).first()
    )
    deleted = 0
    while newest is not None and (upto := _end_of_batch(newest)):
        deleted += Event.objects.filter(pk__lte=upto).delete()[0]
    return deleted


def _end_of_batch(newest: int) -> int | None:
    """Return the last id of the next events to delete; None when none is left."""
    old = Event.objects.filter(pk__lte=newest).order_by("pk").values_list("pk", flat=True)
    return max(old[:BATCH], default=None)
