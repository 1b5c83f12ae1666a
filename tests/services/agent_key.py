"""Make an agent's token in another process: the scribe calls it by its name."""

import datetime as dt

from django.utils import timezone

from coordination.models import AgentToken
from coordination.services.agent_tokens import create_token


def make(*, session: str) -> str:
    expires = timezone.now() + dt.timedelta(hours=1)
    return create_token(token=AgentToken(session_id=session, name="t", expires_at=expires))
