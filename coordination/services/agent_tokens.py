"""Make, check and revoke the tokens under which remote agents work. Only their hash is stored."""

import secrets
from dataclasses import dataclass

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.errors import Invalid
from coordination.models import HUMAN, AgentToken
from coordination.services.tokens import NOTED_EVERY, hash_key

PREFIX = "hda_"
"""Starts every agent's token: no person's token is taken for one, nor the other way round."""
DAYS = 90
"""How long a token lives unless its maker says otherwise."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """A live token: which one, for which session, and whether its use is to be noted."""

    token_id: int
    session: str
    unnoted: bool


def create_token(*, token: AgentToken) -> str:
    """Store `token` (session, name, expiry) and return its key: the only time anyone sees it.

    Raises:
        Invalid: it would act for people, or be dead from the start.
    """
    if token.session_id == HUMAN:
        raise Invalid("session", _("human is the people's own session: no agent works under it."))
    if token.expires_at <= timezone.now():
        raise Invalid("expires_at", _("This date is past."))
    key = PREFIX + secrets.token_urlsafe(32)
    token.key_hash = hash_key(key)
    token.save(force_insert=True)
    return key


def authenticate(*, key: str) -> Bearer | None:
    """Return whom a live token lets in."""
    if not key.startswith(PREFIX):
        return None
    now = timezone.now()
    live = AgentToken.objects.filter(
        key_hash=hash_key(key), revoked_at__isnull=True, expires_at__gt=now
    )
    found = live.values_list("pk", "session_id", "last_used_at").first()
    if found is None:
        return None
    token_id, session, last_used_at = found
    return Bearer(token_id, session, last_used_at is None or last_used_at < now - NOTED_EVERY)


def note_use(*, token_id: int) -> None:
    """Record that a token was used just now."""
    now = timezone.now()
    unnoted = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - NOTED_EVERY)
    AgentToken.objects.filter(unnoted, pk=token_id).update(last_used_at=now)


def revoke(*, token_id: int) -> None:
    """End a token at once; doing it again changes nothing."""
    live = AgentToken.objects.filter(pk=token_id, revoked_at__isnull=True)
    live.update(revoked_at=timezone.now())


def delete(*, token_id: int) -> None:
    """Forget a token, which ends it too."""
    AgentToken.objects.filter(pk=token_id).delete()
