"""Which session this process works under."""

import os
from dataclasses import dataclass
from typing import Self

from django.utils.translation import gettext as _

from coordination.actors import Actor
from coordination.errors import Forbidden, NotFound
from coordination.models import HUMAN
from coordination.selectors.sessions import agent_sessions
from coordination.services import sessions


@dataclass(frozen=True, slots=True)
class Identity:
    """A session's key as it was given; it may be blank, or name no session yet."""

    key: str

    @classmethod
    def of_process(cls, option: str | None) -> Self:
        """Take the key from the command line, else from MCP_SESSION_ID."""
        given = option or os.environ.get("MCP_SESSION_ID", "")
        # An environment may hold bytes that no database takes.
        return cls(given.strip().encode("utf-8", "replace").decode())

    def admit(self) -> Actor:
        """Stamp the session as seen just now and return who acts.

        Raises:
            NotFound, Forbidden: it is no agent's session; says how to mend that. A session that
                is added afterwards is admitted at the next call.
        """
        if self.key == HUMAN:
            raise Forbidden(
                _(
                    "human is the people's own session, no agent works under it. "
                    "Set MCP_SESSION_ID to one of: {known}."
                ).format(known=_known())
            )
        if not self.key:
            raise NotFound(
                _(
                    "no session: set MCP_SESSION_ID (or --session) to one of: {known}. "
                    "`manage.py mcpconfig SESSION` prints the whole configuration."
                ).format(known=_known())
            )
        if not sessions.stamp(session=self.key):
            raise NotFound(
                _(
                    "unknown session {key!r}: add it in the admin, or set MCP_SESSION_ID to one "
                    "of: {known}."
                ).format(key=self.key[:60], known=_known())
            )
        return Actor.agent(self.key)


def _known() -> str:
    return ", ".join(session.key for session in agent_sessions())
