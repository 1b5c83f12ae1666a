"""Quiet hours, in the site's own time zone."""

import datetime as dt

from django.utils import timezone


def quiet_until(start: dt.time | None, end: dt.time | None, now: dt.datetime) -> dt.datetime | None:
    """Return when the quiet hours that hold `now` end; None outside them.

    They may span midnight. The end itself is outside.
    """
    if start is None or end is None:
        return None
    local = timezone.localtime(now)
    clock = local.time()
    inside = start <= clock < end if start < end else clock >= start or clock < end
    if not inside:
        return None
    day = local.date() + dt.timedelta(days=1 if clock >= end else 0)
    return dt.datetime.combine(day, end, tzinfo=local.tzinfo)
