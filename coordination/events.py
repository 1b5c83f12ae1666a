"""The event feed's writing side: one row a change, in the change's own transaction."""

from django.db import connection, models
from django.utils import timezone
from django.utils.translation import pgettext_lazy

from coordination.actors import Actor
from coordination.models import Event

CHANNEL = "handoff_events"
"""The PostgreSQL channel that tells the web processes of a commit."""


class Verb(models.TextChoices):
    """What happened to a session or a message; `plans.events` has the plans' verbs."""

    # Read after a name: "app answered #12". A question's status uses the same English words.
    ASKED = "asked", pgettext_lazy("activity", "asked")
    ANSWERED = "answered", pgettext_lazy("activity", "answered")
    CLOSED = "closed", pgettext_lazy("activity", "closed")
    # A session was added or changed: boards and tool lists follow.
    SAVED = "saved", pgettext_lazy("activity", "saved")
    DELETED = "deleted", pgettext_lazy("activity", "deleted")
    # A session called a tool after a silence.
    SEEN = "seen", pgettext_lazy("activity", "was seen")


def append(*, actor: Actor, verb: str, subject: str, **data: object) -> Event:
    """Record one change. Call it inside the transaction that makes the change."""
    event = Event.objects.create(
        at=timezone.now(), actor=str(actor), verb=verb, subject=subject, data=data
    )
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"NOTIFY {CHANNEL}")  # delivered when the transaction commits
    return event
