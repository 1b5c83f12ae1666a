"""Make, check and revoke REST tokens. Only their hash is stored."""

import contextlib
import datetime as dt
import hashlib
import secrets
import time

from django.contrib.auth.models import AbstractBaseUser
from django.db import Error, transaction
from django.db.models import Q
from django.utils import timezone

from coordination.models import ApiToken
from coordination.patience import patient

PREFIX = "hdf_"
"""Starts every token, so that a leaked one is recognised for what it is."""
NOTED_EVERY = dt.timedelta(minutes=1)
"""How exactly a token's last use is known: not at the price of a write a request."""


def create_token(*, token: ApiToken) -> str:
    """Store `token` (user, name, expiry) and return its key: the only time anyone sees it."""
    key = PREFIX + secrets.token_urlsafe(32)
    token.key_hash = hash_key(key)
    token.save(force_insert=True)
    return key


def authenticate(*, key: str) -> AbstractBaseUser | None:
    """Return the person a live token acts for."""
    now = timezone.now()
    live = Q(expires_at__isnull=True) | Q(expires_at__gt=now)
    token = (
        ApiToken.objects.filter(live, key_hash=hash_key(key), revoked_at__isnull=True)
        .filter(user__is_active=True)
        .select_related("user")
        .first()
    )
    if token is None:
        return None
    if token.last_used_at is None or token.last_used_at < now - NOTED_EVERY:
        _note_use(token.pk, now)
    return token.user


def revoke(*, token_id: int) -> None:
    """End a token at once; doing it again changes nothing."""
    ApiToken.objects.filter(pk=token_id, revoked_at__isnull=True).update(revoked_at=timezone.now())


def delete(*, token_id: int) -> None:
    """Forget a token, which ends it too."""
    ApiToken.objects.filter(pk=token_id).delete()


def _note_use(token_id: int, now: dt.datetime) -> None:
    """Record a use; while the database is busy, the next request will: nobody waits for this."""
    with contextlib.suppress(Error), patient(until=time.monotonic()), transaction.atomic():
        ApiToken.objects.filter(pk=token_id).update(last_used_at=now)


def hash_key(key: str) -> str:
    """Hash a key: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(key.encode()).hexdigest()
