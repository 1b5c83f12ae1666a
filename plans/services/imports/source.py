"""Read the original server's SQLite file, checking every row and naming each bad one."""

import datetime as dt
import hashlib
import json
import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from django.utils.translation import gettext as _
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
)

from coordination.errors import DomainError, Invalid
from coordination.models import HUMAN
from coordination.text import checked_line, checked_text
from plans.models import MAX_ATTEMPTS, TITLE_MAX, ValidationMode
from plans.rules import first_fault, stored_rule
from plans.states import TaskStatus

YEAR_2100 = 4_102_444_800
"""Unix seconds; what is later was not written in seconds."""


def _session_key(value: str, info: ValidationInfo) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", value):
        raise _bad(info, _("not a session's key."))
    return value


def _project(value: str, info: ValidationInfo) -> str:
    if value == HUMAN:
        raise _bad(info, _("human owns no plans."))
    return value


def _filled(value: str, info: ValidationInfo) -> str:
    if not value.strip():
        raise _bad(info, _("must not be blank."))
    return value


def _text(value: str, info: ValidationInfo) -> str:
    return checked_text(str(info.field_name), value)


def _line(value: str, info: ValidationInfo) -> str:
    return checked_line(str(info.field_name), value, maximum=TITLE_MAX)


def _bad(info: ValidationInfo, sentence: str) -> Invalid:
    return Invalid(str(info.field_name), f"{info.field_name}: {sentence}")


Id = Annotated[int, Field(ge=1, le=2**62)]
Seconds = Annotated[int, Field(ge=0, le=YEAR_2100)]
Key = Annotated[str, AfterValidator(_session_key)]
Body = Annotated[str, AfterValidator(_text)]
Note = Annotated[Body, BeforeValidator(lambda value: "" if value is None else value)]
Title = Annotated[str, AfterValidator(_filled), AfterValidator(_line)]


class Row(BaseModel):
    """A row; columns that nobody knows are left alone."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class NumberedRow(Row):
    """A row with an id; `fixed` names the columns that never change after it was written."""

    fixed: ClassVar[tuple[str, ...]]

    id: Id

    @property
    def digest(self) -> str:
        """Fingerprint what never changes."""
        values = [getattr(self, name) for name in self.fixed]
        return hashlib.sha256(json.dumps(values).encode()).hexdigest()


class SessionRow(Row):
    """A session and its last call."""

    name: Key
    last_seen: Seconds


class MessageRow(NumberedRow):
    """A question or an answer."""

    fixed = ("parent_id", "from_session", "to_session", "body", "created_at")

    parent_id: Id | None = None
    from_session: Key
    to_session: Key | None = None
    subject: Annotated[Note, AfterValidator(_line)] = ""
    body: Annotated[Body, AfterValidator(_filled)]
    status: Literal["open", "answered", "closed"]
    created_at: Seconds
    resolved_at: Seconds | None = None


class PlanRow(NumberedRow):
    """A plan."""

    fixed = ("project", "created_at")

    project: Annotated[Key, AfterValidator(_project)]
    title: Title
    status: Literal["active", "paused", "done", "archived"]
    created_at: Seconds
    updated_at: Seconds


class TaskRow(NumberedRow):
    """A step."""

    fixed = ("plan_id", "created_at")

    plan_id: Id
    position: Annotated[int, Field(ge=-(10**9), le=10**9)]
    title: Title
    instructions: Note = ""
    validation_mode: Literal["manual", "shell", "artifact"] = "manual"
    validation_rule: str | None = None
    max_attempts: Annotated[int, Field(ge=1, le=MAX_ATTEMPTS)] = 1
    status: Literal[
        "pending", "current", "awaiting_human", "validating", "done", "failed", "blocked", "skipped"
    ]
    attempts: Annotated[int, Field(ge=0, le=10**9)] = 0
    last_proof: Note = ""
    last_error: Note = ""
    started_at: Seconds | None = None
    completed_at: Seconds | None = None
    created_at: Seconds
    updated_at: Seconds

    @property
    def rule(self) -> Any:
        """Return the rule as it is stored here.

        Raises:
            Invalid: it would not be accepted here.
        """
        if self.validation_mode == ValidationMode.MANUAL:
            return None
        try:
            rule = json.loads(self.validation_rule or "null")
        except ValueError:
            raise Invalid("validation_rule", _("validation_rule: not valid JSON")) from None
        return stored_rule(self.validation_mode, rule)


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """A row that cannot be taken, and why."""

    table: str
    id: str
    reason: str


@dataclass(slots=True)
class Source:
    """The rows of a file that can be taken, and those that cannot."""

    sessions: list[SessionRow] = field(default_factory=list)
    messages: list[MessageRow] = field(default_factory=list)
    plans: list[PlanRow] = field(default_factory=list)
    tasks: list[TaskRow] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


class Unreadable(DomainError):
    """A file that is not the original server's."""

    code = "unreadable"


Kind = TypeVar("Kind", bound=Row)


def read(path: Path) -> Source:
    """Read a file without changing it.

    Raises:
        Unreadable: absent, not SQLite, or without the tables of the original server.
    """
    if not path.is_file():
        raise Unreadable(_("{path}: no such file.").format(path=path))
    found = Source()
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            # What is not UTF-8 becomes characters that no text here may hold, hence a bad row.
            database.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
            names = {row["name"] for row in database.execute("SELECT name FROM sqlite_master")}
            if not {"messages", "plans"} & names:
                raise Unreadable(
                    _("{path}: no table messages or plans; not the original server's file.").format(
                        path=path
                    )
                )
            found.sessions = _rows(database, names, "sessions", SessionRow, found.faults)
            found.messages = _rows(database, names, "messages", MessageRow, found.faults)
            found.plans = _rows(database, names, "plans", PlanRow, found.faults)
            found.tasks = _rows(database, names, "tasks", TaskRow, found.faults)
    except sqlite3.Error as error:
        raise Unreadable(
            _("{path} cannot be read as SQLite: {error}.").format(path=path, error=error)
        ) from None
    _drop_orphans(found)
    return found


def moment(seconds: int | None) -> dt.datetime | None:
    """Return the time that unix seconds mean."""
    return None if seconds is None else at(seconds)


def at(seconds: int) -> dt.datetime:
    """Return the time that unix seconds mean."""
    return dt.datetime.fromtimestamp(seconds, dt.UTC)


def _rows(
    database: sqlite3.Connection, names: set[str], table: str, kind: type[Kind], faults: list[Fault]
) -> list[Kind]:
    if table not in names:
        return []
    good: list[Kind] = []
    for row in database.execute(f"SELECT * FROM {table} ORDER BY 1"):  # noqa: S608 - one of four
        values = dict(row)
        try:
            checked = kind.model_validate(values)
            if isinstance(checked, TaskRow):
                _ = checked.rule
            good.append(checked)
        except ValidationError as error:
            faults.append(
                Fault(table, str(next(iter(values.values()))), first_fault(error).message)
            )
        except DomainError as error:
            faults.append(Fault(table, str(next(iter(values.values()))), error.message))
    return good


def _drop_orphans(found: Source) -> None:
    """Move rows that contradict others to the faults."""
    roots = {row.id for row in found.messages if row.parent_id is None}
    plan_ids = {row.id for row in found.plans}
    active: set[int] = set()
    messages, tasks = [], []
    for message in found.messages:
        reason = _message_fault(message, roots)
        if reason:
            found.faults.append(Fault("messages", str(message.id), reason))
        else:
            messages.append(message)
    for task in found.tasks:
        busy = task.status in {TaskStatus.CURRENT, TaskStatus.AWAITING_HUMAN}
        if task.plan_id not in plan_ids:
            reason = _("its plan {id} is absent or bad").format(id=task.plan_id)
        elif busy and task.plan_id in active:
            reason = _("a second active step in plan {id}").format(id=task.plan_id)
        else:
            tasks.append(task)
            active |= {task.plan_id} if busy else set()
            continue
        found.faults.append(Fault("tasks", str(task.id), reason))
    kept = {row.id for row in messages}
    for message in [m for m in messages if m.parent_id is not None and m.parent_id not in kept]:
        messages.remove(message)
        reason = _("its question {id} is absent or bad").format(id=message.parent_id)
        found.faults.append(Fault("messages", str(message.id), reason))
    found.messages, found.tasks = messages, tasks


def _message_fault(message: MessageRow, roots: set[int]) -> str:
    if message.parent_id is not None:
        if message.parent_id in roots:
            return ""
        return _("its question {id} is absent or bad").format(id=message.parent_id)
    if not message.subject:
        return _("subject: required.")
    if message.from_session == message.to_session:
        return _("addressed to its own author")
    return ""
