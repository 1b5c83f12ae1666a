"""Keep the event feed from growing for ever."""

import datetime as dt

from django.conf import settings
from django.utils import timezone

from coordination.models import Event


def prune() -> int:
    """Delete events past their age; return how many.

    By id up to the newest old one: one range of the primary key, and the feed's readers, which
    follow ids, never see a hole in the middle.
    """
    before = timezone.now() - dt.timedelta(days=settings.EVENT_RETENTION_DAYS)
    newest = (
        Event.objects.filter(at__lt=before).order_by("-at").values_list("pk", flat=True).first()
    )
    if newest is None:
        return 0
    deleted, _rows = Event.objects.filter(pk__lte=newest).delete()
    return deleted
