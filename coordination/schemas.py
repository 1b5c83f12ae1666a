"""Shapes that REST takes in and gives out."""

import datetime as dt
from typing import Annotated, Literal

from ninja import Schema
from pydantic import AfterValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from coordination.models import SUBJECT_MAX
from coordination.selectors.sessions import COUNT_CAP, Health
from coordination.text import BODY_MAX

ID_MAX = 2**63 - 1
"""The largest id a database holds."""

LIMIT_MAX = 200


def _without_nul(value: str) -> str:
    """Refuse what no database can compare with."""
    if "\x00" in value:
        raise PydanticCustomError("nul", "NUL")
    return value


Id = Annotated[int, Field(ge=1, le=ID_MAX)]
Text = Annotated[str, AfterValidator(_without_nul)]
# Shown in OpenAPI; checked by the services, for every door alike.
Line = Annotated[str, Field(json_schema_extra={"pattern": r"\S", "maxLength": SUBJECT_MAX})]
Prose = Annotated[str, Field(json_schema_extra={"pattern": r"\S", "maxLength": BODY_MAX})]
SessionKey = Annotated[str, Field(examples=["panel", "app"])]


class Body(Schema):
    """What a request sends: a field that nobody knows is a mistake, not a wish to ignore."""

    model_config = ConfigDict(extra="forbid")


class BackendOut(Schema):
    """A session that agents work under: one column of the board."""

    key: str
    color: str
    description: str
    position: int


class PresenceOut(Schema):
    """A session's last sign of life; `age` in seconds, null when it was never seen."""

    key: str
    last_seen: dt.datetime | None
    age: int | None
    bucket: Literal["active", "idle", "stale"]


class WaitingOut(Schema):
    """An open question whose addressee is stale."""

    id: int
    from_session: str
    to_session: str
    subject: str
    created_at: dt.datetime


class HealthOut(Schema):
    """Every session by presence, and what waits for the stale ones."""

    sessions: list[PresenceOut]
    summary: dict[str, int]
    waiting: list[WaitingOut]
    waiting_total: Annotated[int, Field(description=f"Counting stops at {COUNT_CAP}.")]

    @staticmethod
    def resolve_waiting_total(found: Health) -> int:
        """Return the count alone."""
        return found.waiting_total.count


class HistoryFilters(Schema):
    """The filters of `mf_history`, all optional, all of which must hold."""

    subject_contains: Text = ""
    from_session: Text = ""
    to_session: Text = ""
    status: Literal["open", "answered", "closed", "all"] = "all"
    limit: Annotated[int, Field(ge=1, le=LIMIT_MAX)] = 20


class QuestionLineOut(Schema):
    """A question as lists show it; `to_session` is null for everyone."""

    id: int
    from_session: str
    to_session: str | None
    subject: str
    status: str
    created_at: dt.datetime
    resolved_at: dt.datetime | None


class QuestionOut(QuestionLineOut):
    """A question with its text."""

    body: str


class AnswerOut(Schema):
    """One answer."""

    id: int
    author: str
    body: str
    created_at: dt.datetime


class ThreadOut(Schema):
    """A question and its answers, oldest first."""

    question: QuestionOut
    answers: list[AnswerOut]


class QuestionIn(Body):
    """A question asked as `human`; no `to`, or null, asks everyone."""

    to: SessionKey | None = None
    subject: Line
    body: Prose


class AnswerIn(Body):
    """An answer given as `human`."""

    body: Prose
