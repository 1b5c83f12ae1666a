"""The event feed's writing side: one row a change, in the change's own transaction."""

from django.db import connection, models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from coordination.actors import Actor
from coordination.models import Event

CHANNEL = "handoff_events"
"""The PostgreSQL channel that tells the web processes of a commit."""


class Verb(models.TextChoices):
    """What happened to a session or a message; `plans.events` has the plans' verbs."""

    ASKED = "asked", _("asked")
    ANSWERED = "answered", _("answered")
    CLOSED = "closed", _("closed")
    SAVED = "saved", _("saved")  # a session was added or changed: boards and tool lists follow
    DELETED = "deleted", _("deleted")
    SEEN = "seen", _("seen")  # a session called a tool after a silence


def append(*, actor: Actor, verb: str, subject: str, **data: object) -> Event:
    """Record one change. Call it inside the transaction that makes the change."""
    event = Event.objects.create(
        at=timezone.now(), actor=str(actor), verb=verb, subject=subject, data=data
    )
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"NOTIFY {CHANNEL}")  # delivered when the transaction commits
    return event
