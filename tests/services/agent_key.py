"""Make tokens in another process: the scribe calls these by their names."""

import datetime as dt

from django.contrib.auth.models import User
from django.utils import timezone

from coordination.models import AgentToken, ApiToken
from coordination.services import tokens
from coordination.services.agent_tokens import create_token


def make(*, session: str) -> str:
    expires = timezone.now() + dt.timedelta(hours=1)
    return create_token(token=AgentToken(session_id=session, name="t", expires_at=expires))


def make_api_key(*, username: str) -> str:
    token = ApiToken(user=User.objects.get(username=username), name="t")
    return tokens.create_token(token=token)
