"""Who acts: every service takes one, every event names it."""

from dataclasses import dataclass
from typing import Self

from coordination.models import HUMAN


@dataclass(frozen=True, slots=True)
class Actor:
    """An agent's session, or a person acting as `human`."""

    session: str
    user: str = ""  # the person's account name; empty for an agent

    @classmethod
    def agent(cls, session: str) -> Self:
        """Return the agent working under `session`."""
        return cls(session)

    @classmethod
    def human(cls, user: str = "") -> Self:
        """Return a person; `user` is the account they are signed in with."""
        return cls(HUMAN, user)

    @property
    def is_human(self) -> bool:
        """Tell a person from an agent."""
        return self.session == HUMAN

    def __str__(self) -> str:
        return f"{self.session}:{self.user}" if self.user else self.session
