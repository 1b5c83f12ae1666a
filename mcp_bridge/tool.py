"""What a tool is: one declaration gives its JSON schema and the checks of its arguments."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from mcp_types import Tool as WireTool
from mcp_types import ToolAnnotations

from coordination.errors import Invalid, MissingFields
from coordination.models import Session

Progress = Callable[[float, float | None], Awaitable[None]]
"""Told how far a long call is, and what the whole would be where that is known."""
MAX_ID = 2**63 - 1
"""The largest id that a database holds."""
WHOLE_NUMBER = re.compile(r"[0-9]{1,30}(\.0+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument; what all kinds share, which is what a text needs."""

    name: str
    required: bool = True
    default: Any = ""
    description: Callable[[Sequence[Session]], str] | None = None

    def schema(self, others: Sequence[Session]) -> dict[str, Any]:
        """Return the JSON schema; `others` are the participants that one may name."""
        described = {"description": self.description(others)} if self.description else {}
        return {"type": "string"} | described

    def read(self, value: Any) -> Any:
        """Return the value checked, or refuse it in a sentence that names the field."""
        if not isinstance(value, str):
            raise Invalid(
                self.name,
                _("{field}: a text is expected, not {found}.").format(
                    field=self.name, found=_shown(value)
                ),
            )
        return value


class Text(Parameter):
    """Any text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Parameter):
    """A whole number; agents also send it as "12" or 12.0."""

    low: int = 1
    high: int = MAX_ID

    def schema(self, others: Sequence[Session]) -> dict[str, Any]:
        """Return the JSON schema, with the upper bound where it says something."""
        bounds = {"minimum": self.low} | ({} if self.high == MAX_ID else {"maximum": self.high})
        return Parameter.schema(self, others) | {"type": "integer"} | bounds

    def read(self, value: Any) -> int:
        """Return the number, or refuse what is no whole number between the bounds."""
        number = _whole(value)
        if number is None or not self.low <= number <= self.high:
            raise Invalid(
                self.name,
                _("{field}: a whole number from {low} to {high} is expected, not {found}.").format(
                    field=self.name, low=self.low, high=self.high, found=_shown(value)
                ),
            )
        return number


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Parameter):
    """One of a few words."""

    values: Sequence[str]

    def schema(self, others: Sequence[Session]) -> dict[str, Any]:
        """Return the JSON schema."""
        return Parameter.schema(self, others) | {"enum": list(self.values)}

    def read(self, value: Any) -> str:
        """Return the word, or refuse it with the list of those that are known."""
        word = Parameter.read(self, value).strip()
        if word not in self.values:
            raise Invalid(
                self.name,
                _("{field}: {found} is not one of {values}.").format(
                    field=self.name, found=_shown(value), values=", ".join(self.values)
                ),
            )
        return word


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant(Parameter):
    """The key of a session. Who exists is for the service to say, at the moment of the call."""

    def schema(self, others: Sequence[Session]) -> dict[str, Any]:
        """Return the JSON schema: free where the sessions could not be read."""
        listed = {"enum": [session.key for session in others]} if others else {}
        return Parameter.schema(self, others) | listed

    def read(self, value: Any) -> str:
        """Return the key without blanks around it."""
        return Parameter.read(self, value).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool: what agents read about it, what it takes, and what answers it."""

    name: str
    description: Callable[[], str]
    handler: Callable[..., Any]
    """Called with the actor, then each argument by its name; returns the text of the answer.

    It runs in the database's thread, except one that takes long: that one is awaited, and given
    `progress` too, and when the call came (monotonic).
    """
    takes_long: bool = False
    parameters: tuple[Parameter, ...] = ()
    reads_only: bool = False
    idempotent: bool = False
    destructive: bool = False
    recalls_inbox: bool = False
    """Whether the answer ends with how many questions wait."""
    names_itself: bool = False
    """Whether the session may name itself in its arguments."""
    known: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "known", frozenset(one.name for one in self.parameters))

    def declaration(self, session: str, sessions: Sequence[Session]) -> WireTool:
        """Return what `tools/list` says of it to `session`."""
        named = [one for one in sessions if self.names_itself or one.key != session]
        properties = {one.name: one.schema(named) for one in self.parameters}
        required = [one.name for one in self.parameters if one.required]
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        return WireTool(
            name=self.name,
            description=self.description(),
            input_schema=schema | ({"required": required} if required else {}),
            annotations=ToolAnnotations(
                read_only_hint=self.reads_only,
                idempotent_hint=self.idempotent or self.reads_only,
                destructive_hint=self.destructive,
            ),
        )

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments checked.

        Raises:
            MissingFields: everything required that is absent or blank, in one sentence.
            Invalid: the first value that cannot be taken, or names that the tool does not have.
        """
        given = {name: value for name, value in arguments.items() if not _blank(value)}
        missing = [one.name for one in self.parameters if one.required and one.name not in given]
        if missing:
            raise MissingFields(missing)
        # A tool without parameters takes no notice of the filler that some clients send.
        unknown = sorted(set(given) - self.known) if self.parameters else []
        if unknown:
            raise Invalid(
                unknown[0],
                _("unknown argument {names}; {tool} takes {known}.").format(
                    names=", ".join(_shown(name) for name in unknown[:5]),
                    tool=self.name,
                    known=", ".join(one.name for one in self.parameters),
                ),
            )
        return {
            one.name: one.read(given[one.name]) if one.name in given else one.default
            for one in self.parameters
        }


def _blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _shown(value: Any) -> str:
    """Return a value as its sender wrote it, shortened."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _whole(value: Any) -> int | None:
    """Return the whole number that `value` stands for, if it does."""
    if isinstance(value, str):
        text = value.strip()
        return int(text.partition(".")[0]) if WHOLE_NUMBER.fullmatch(text) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if isinstance(value, int) or value.is_integer() else None
