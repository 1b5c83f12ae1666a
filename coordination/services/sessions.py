"""Add, change and delete sessions; stamp their presence."""

import datetime as dt
from collections.abc import Collection

from django.db import connection, transaction
from django.db.models import ProtectedError, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination import events
from coordination.actors import Actor
from coordination.errors import Conflict, NotFound
from coordination.models import HUMAN, Session

ANNOUNCE_AFTER = dt.timedelta(seconds=60)
"""A session's calls reach the boards at most this often: presence is shown in minutes."""
LOOKS = ("color", "description", "position")
"""What may change of a session."""

_STAMP = "UPDATE coordination_session SET last_seen = %s WHERE key = %s AND last_seen > %s"


def stamp(*, session: str) -> bool:
    """Record that `session` called a tool just now; False if there is no such session.

    One statement on the usual path, in plain SQL: it comes before every call, and building it
    anew each time would be a sixth of a whole call. After a silence an event tells the boards
    as well.
    """
    now = timezone.now()
    moments = [connection.ops.adapt_datetimefield_value(at) for at in (now, now - ANNOUNCE_AFTER)]
    with connection.cursor() as cursor:
        cursor.execute(_STAMP, [moments[0], session, moments[1]])
        if cursor.rowcount:
            return True
    rows = Session.objects.filter(key=session)
    with transaction.atomic():
        silent = Q(last_seen__isnull=True) | Q(last_seen__lte=now - ANNOUNCE_AFTER)
        if not rows.filter(silent).update(last_seen=now):
            return rows.exists()  # another process of the same session stamped it first
        events.append(
            actor=Actor.agent(session), verb=events.Verb.SEEN, subject=f"session:{session}"
        )
    return True


def save(
    *, actor: Actor, session: Session, adding: bool, fields: Collection[str] = LOOKS
) -> Session:
    """Add a session, or change those of its LOOKS that `fields` names. Its key never changes.

    Raises:
        ValidationError: a value that cannot be. NotFound: it was deleted meanwhile.
    """
    session.full_clean(validate_unique=adding)
    with transaction.atomic():
        if adding:
            session.save(force_insert=True)
        else:
            looks = {name: getattr(session, name) for name in LOOKS if name in fields}
            rows = Session.objects.filter(key=session.key)
            if not (rows.update(**looks) if looks else rows.exists()):
                raise NotFound(_("session {key} does not exist any more.").format(key=session.key))
        events.append(actor=actor, verb=events.Verb.SAVED, subject=f"session:{session.key}")
    return session


def delete(*, actor: Actor, key: str) -> None:
    """Delete a session that nothing refers to.

    Raises:
        Conflict: it is `human`, or it has messages or plans.
    """
    if key == HUMAN:
        raise Conflict(_("human is the people's own session: it cannot be deleted."))
    with transaction.atomic():
        try:
            deleted, _rows = Session.objects.filter(key=key).delete()
        except ProtectedError as error:
            raise Conflict(
                _("session {key} has messages or plans: it cannot be deleted.").format(key=key)
            ) from error
        if deleted:
            events.append(actor=actor, verb=events.Verb.DELETED, subject=f"session:{key}")
