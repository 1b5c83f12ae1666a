"""Every tool call goes through here: who calls, with what, and what the answer says.

The one place where the domain's refusals and the database's troubles become an agent's text.
"""

import logging
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.utils import Error
from django.utils.translation import gettext as _
from mcp_types import CallToolResult, TextContent

from coordination.actors import Actor
from coordination.errors import DomainError, Invalid, MissingFields
from coordination.patience import patient
from coordination.selectors.messages import open_count
from mcp_bridge.crossing import in_database
from mcp_bridge.identity import Identity
from mcp_bridge.readiness import Readiness
from mcp_bridge.tool import Progress, Tool

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 8.5
"""How long a call waits for its turns to write, all together: it must answer within 10 s."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A call that takes long: whose it is and what it asks for, checked."""

    tool: Tool
    actor: Actor
    arguments: dict[str, Any]
    came: float


class Calls:
    """Answer tool calls."""

    def __init__(self, readiness: Readiness, tools: Sequence[Tool]) -> None:
        self._readiness = readiness
        self._tools = {tool.name: tool for tool in tools}

    async def answer(
        self, identity: Identity, name: Any, arguments: Any, progress: Progress
    ) -> CallToolResult:
        """Return the answer to one call; whatever goes wrong is a sentence in it."""
        came = time.monotonic()
        try:
            await self._readiness.check(since=came)
            served = await in_database(lambda: self._patiently(identity, name, arguments, came))
            text = served if isinstance(served, str) else await finish(served, progress)
        except MissingFields as error:
            return failure(error.message)
        except DomainError as error:
            return failure(refusal(error.message))
        except Error as error:
            log(name, error)
            return failure(refusal(self._readiness.report(error).message))
        except Exception as error:
            log(name, error)
            return failure(refusal(_("something unexpected happened here; see this server's log.")))
        return CallToolResult(content=[TextContent(type="text", text=text)])

    def _patiently(
        self, identity: Identity, name: Any, arguments: Any, came: float
    ) -> "str | Admitted":
        with patient(until=came + PATIENCE_SECONDS):
            return self._serve(identity, name, arguments, came)

    def _serve(
        self, identity: Identity, name: Any, arguments: Any, came: float
    ) -> "str | Admitted":
        """Serve one call in the database's thread; admit one that takes long."""
        self._readiness.refuse_if_stuck(since=came)
        actor = identity.admit()
        tool, checked = self._understood(name, arguments)
        if tool.takes_long:
            return Admitted(tool, actor, checked, came)
        text: str = tool.handler(actor, **checked)
        return text + inbox_line(actor) if tool.recalls_inbox else text

    def _understood(self, name: Any, arguments: Any) -> tuple[Tool, dict[str, Any]]:
        """Return the tool and its arguments, checked."""
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is None:
            raise Invalid(
                "name",
                _("unknown tool {name!r}. Tools: {known}.").format(
                    name=str(name)[:60], known=", ".join(self._tools)
                ),
            )
        if not isinstance(arguments, dict | None):
            raise Invalid(
                "arguments", _("arguments: an object is expected, with one value per name.")
            )
        return tool, tool.read(arguments or {})


async def finish(call: Admitted, progress: Progress) -> str:
    """Serve a call that takes long, from the event loop."""
    text: str = await call.tool.handler(
        call.actor, progress=progress, came=call.came, **call.arguments
    )
    if call.tool.recalls_inbox:
        text += await in_database(lambda: inbox_line(call.actor))
    return text


def inbox_line(actor: Actor) -> str:
    """Return the line that reminds an agent of its inbox; agents forget it."""
    try:
        waiting = open_count(session=actor.session)
    except Error:  # what was asked is done: a failing reminder must not say otherwise
        return ""
    if not waiting.count:
        return ""
    return "\n" + _("✉ {n} open question(s) for you: mf_inbox").format(n=waiting)


def refusal(message: str) -> str:
    """Return the text of a refusal."""
    return _("Error: {message}").format(message=message)


def failure(text: str) -> CallToolResult:
    """Return a result that says that the call did nothing."""
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def log(name: Any, error: Exception) -> None:
    """Leave one line for people: what failed, and where."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    logger.error(
        "%.60s: %s: %s (%s:%s)",
        name, type(error).__name__, " ".join(str(error).split()), frame.filename, frame.lineno,
    )  # fmt: skip
