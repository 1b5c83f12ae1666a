"""Shapes that REST takes in and gives out."""

import datetime as dt
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field, StrictInt, WithJsonSchema

from coordination.schemas import (
    BackendOut,
    Body,
    Id,
    Prose,
    QuestionLineOut,
    SessionKey,
    Text,
)
from plans.models import MAX_ATTEMPTS, TITLE_MAX, PlanStatus, TaskStatus, ValidationMode
from plans.rules import rule_schema
from plans.states import HUMAN_EVENTS, TaskEvent

# Shown in OpenAPI; checked by `plans.rules`, the one place that knows which mode a rule is for.
Rule = Annotated[Any, WithJsonSchema(rule_schema())]
# No default is ever read: what a body leaves out is left alone, and null is refused.
ABSENT: Any = Field(default=None)
Title = Annotated[str, Field(json_schema_extra={"pattern": r"\S", "maxLength": TITLE_MAX})]
Attempts = Annotated[StrictInt, Field(ge=1, le=MAX_ATTEMPTS)]


class PlanFilters(Schema):
    """Filters of the list of plans, all of which must hold."""

    project: Text = ""
    status: Literal["active", "paused", "done", "archived", "all"] = "all"


class PlanIn(Body):
    """A new plan."""

    project: SessionKey
    title: Title


class PlanPatch(Body):
    """What changes of a plan; what is absent stays. Null is no value for either."""

    title: Title = ABSENT
    status: Literal["active", "paused", "archived"] = ABSENT


class DuplicateIn(Body):
    """Where a copy goes and what it is called; by default beside the plan, as its copy."""

    title: Title | None = None
    project: SessionKey | None = None


class TaskIn(Body):
    """A new step: at the end, or right after the step `after`."""

    title: Title
    instructions: Prose
    validation_mode: ValidationMode
    validation_rule: Rule = None
    max_attempts: Attempts | None = None
    after: Id | None = None


class TaskPatch(Body):
    """What changes of a step; what is absent stays."""

    title: Title = ABSENT
    instructions: Prose = ABSENT
    validation_mode: ValidationMode = ABSENT
    validation_rule: Rule = None
    max_attempts: Attempts = ABSENT


class MoveIn(Body):
    """Either one place up or down, or right before another step of the plan."""

    direction: Literal["up", "down"] | None = None
    before: Id | None = None


class ActionIn(Body):
    """What a person does to a step; sending it back needs a remark."""

    action: Annotated[str, Field(json_schema_extra={"enum": [e.value for e in HUMAN_EVENTS]})]
    remark: str | None = None


class PlanOut(Schema):
    """A plan; `settled` of its `total` steps are done or skipped."""

    id: int
    project: str
    title: str
    status: PlanStatus
    version: int
    created_at: dt.datetime
    updated_at: dt.datetime
    total: int
    settled: int


class TaskOut(Schema):
    """A step; `actions` is what a person may do to it now."""

    id: int
    plan_id: int
    plan_title: str
    project: str
    position: int
    title: str
    instructions: str
    validation_mode: ValidationMode
    validation_rule: Any
    max_attempts: int
    status: TaskStatus
    status_since: dt.datetime
    attempts: int
    last_proof: str
    last_error: str
    started_at: dt.datetime | None
    completed_at: dt.datetime | None
    created_at: dt.datetime
    updated_at: dt.datetime
    version: int
    actions: list[TaskEvent]
    editable: bool


class PlanDetailOut(PlanOut):
    """A plan with its steps in order."""

    tasks: list[TaskOut]


class ColumnOut(Schema):
    """One project: its plans in queue order, and the id of the one that decides."""

    backend: BackendOut
    plans: list[PlanDetailOut]
    deciding: int | None


class BoardOut(Schema):
    """Everything the board shows; `last_event_id` is where following the feed goes on."""

    last_event_id: int
    columns: list[ColumnOut]
    waiting: list[TaskOut]
    questions: list[QuestionLineOut]
