"""What a second process does to the tokens of a running site."""

import datetime as dt

from django.contrib.auth.models import User
from django.utils import timezone

from coordination.actors import Actor
from coordination.models import AgentToken, ApiToken, Session
from coordination.services import agent_tokens, sessions, tokens
from plans.models import Task


def mint(*, session: str, name: str = "test") -> str:
    """Make a token and return its key."""
    soon = timezone.now() + dt.timedelta(hours=1)
    return agent_tokens.create_token(
        token=AgentToken(session_id=session, name=name, expires_at=soon)
    )


def mint_for_person(*, username: str) -> str:
    """Make a person's token for REST and return its key."""
    user, _made = User.objects.get_or_create(username=username, is_superuser=True)
    return tokens.create_token(token=ApiToken(user=user, name="ci"))


def revoke(*, key: str) -> None:
    """Revoke a token."""
    token = AgentToken.objects.get(key_hash=tokens.hash_key(key))
    agent_tokens.revoke(token_id=token.pk)


def expire(*, key: str) -> None:
    """Let a token's time come."""
    rows = AgentToken.objects.filter(key_hash=tokens.hash_key(key))
    rows.update(expires_at=timezone.now())


def add_session(*, key: str) -> None:
    """Add a session, as the admin does."""
    sessions.save(actor=Actor.human("admin"), session=Session(key=key), adding=True)


def task(*, task_id: int) -> dict[str, object]:
    """Return what a step's row holds."""
    return Task.objects.values("status", "attempts", "last_error", "last_proof").get(pk=task_id)
