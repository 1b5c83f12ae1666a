"""Whether this web process can serve: for a proxy, a supervisor or a monitor that asks often.

Without a sign-in, so without anything that a stranger may not know: no names, no addresses, no
error texts. The log has those.
"""

import logging
from dataclasses import asdict, dataclass

from django.db import Error
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from coordination.selectors.events import first_after
from coordination.selectors.migrations import applied_migrations, missing
from handoff_site.board.hub import hub

logger = logging.getLogger("handoff")

LAG_MAX_SECONDS = 10.0
"""An event that the boards of this process have not been told for so long: the feed is stuck."""


@dataclass(frozen=True, slots=True)
class Health:
    """What was found; `feed_lag_seconds` is the age of the oldest event not told yet."""

    database: bool
    migrations: bool = False
    feed: bool = False
    feed_lag_seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Tell whether this process can serve."""
        return self.database and self.migrations and self.feed


@never_cache
@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """Answer 200 when everything holds, else 503; the body says what does not."""
    found = health()
    return JsonResponse({"ok": found.ok} | asdict(found), status=200 if found.ok else 503)


def health() -> Health:
    """Look at the database, its schema and the feed: two short reads."""
    try:
        migrated = not missing(applied_migrations())
        lag = feed_lag() if migrated else 0.0
    except Error as error:
        logger.warning("health: %s", str(error).split("\n")[0])
        return Health(database=False)
    return Health(
        database=True,
        migrations=migrated,
        feed=migrated and follows() and lag <= LAG_MAX_SECONDS,
        feed_lag_seconds=round(lag, 3),
    )


def follows() -> bool:
    """Tell whether the feed is followed, or nobody has opened a board yet."""
    tail = hub().tail
    return tail is None or tail.is_alive()


def feed_lag() -> float:
    """Return the age in seconds of the oldest event that this process has not told its boards."""
    tail = hub().tail
    if tail is None or not tail.ready.is_set():
        return 0.0
    waiting = first_after(tail.last_id)
    return 0.0 if waiting is None else max(0.0, (timezone.now() - waiting).total_seconds())
