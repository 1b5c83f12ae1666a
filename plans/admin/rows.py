"""The steps of a plan on its page: drawn, sent back, saved through the services all or none.

A row tells what the page showed (`version`, `seen`) from what the person typed. A row that the
person did not touch is never written, whatever happened to it meanwhile; one that they did touch
is refused when somebody else changed it, and is then drawn again with both texts.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from coordination.actors import Actor
from coordination.errors import DomainError, Forbidden, Invalid, MissingFields
from plans.admin import states
from plans.admin.fields import StepFields, initial_for, refusal_text
from plans.admin.order import displaced, moved, place
from plans.forms import rule_text
from plans.selectors.queues import steps_of
from plans.selectors.tasks import TaskDetail
from plans.services import tasks
from plans.states import TaskStatus

PER_PAGE = 100
"""Rows on one page of a plan's steps."""
NEW = "new-"


class Refused(Exception):
    """Some rows were refused: the reasons are on them."""


@dataclass(slots=True)
class StepRow:
    """One step on the page; `form` is None where the person may only read."""

    token: str  # the step's id, or "new-N"
    task: TaskDetail | None
    form: StepFields | None
    version: int = 0  # what the page showed
    delete: bool = False
    changed: bool = False
    errors: list[str] = field(default_factory=list)
    stored: TaskDetail | None = None  # what somebody else saved since the page was drawn

    @property
    def id(self) -> int | None:
        """Return the step's id; None before it exists."""
        return None if self.token.startswith(NEW) else int(self.token)

    @property
    def open(self) -> bool:
        """Tell whether the row is drawn unfolded."""
        return self.changed or bool(self.errors) or self.id is None

    @property
    def stored_rule_text(self) -> str:
        """Return the rule that somebody else saved, as people read it."""
        return rule_text(self.stored.validation_rule) if self.stored else ""

    @property
    def rule_text(self) -> str:
        """Return the stored rule as people read it."""
        return rule_text(self.task.validation_rule) if self.task else ""

    @property
    def state(self) -> str:
        """Return the coloured state."""
        return states.task_state(self.task.status) if self.task else ""

    @property
    def mode(self) -> str:
        """Return who or what validates."""
        return states.mode_label(self.task.validation_mode) if self.task else ""

    @property
    def buttons(self) -> list[states.Button]:
        """Return what a person may do to the step now."""
        if self.task is None:
            return []
        task = self.task
        back = reverse("admin:plans_plan_change", args=[task.plan_id])
        return states.task_buttons(task.id, task.status, task.version, back)

    @property
    def blank(self) -> bool:
        """Tell an added row that nothing was typed in, which is no step."""
        if self.id is not None or self.form is None:
            return False
        names = ("title", "instructions")
        return not any(self.form.data.get(self.form.add_prefix(name)) for name in names)

    def refuse(self, error: DomainError) -> None:
        """Show a refusal on the row, at its field where it names one."""
        if self.form and self.changed and isinstance(error, Invalid | MissingFields):
            self.form.refuse(error)
        self.errors.append(refusal_text(error))


class StepRows:
    """The rows of one page of a plan's steps, from the database or from what was sent."""

    def __init__(
        self,
        *,
        plan_id: int | None,
        person: User,
        data: Mapping[str, Any] | None = None,
        page: int = 1,
    ) -> None:
        self.plan_id = plan_id
        self.person = person
        self.may_add = person.has_perm("plans.add_task")
        self.may_change = person.has_perm("plans.change_task")
        self.may_delete = person.has_perm("plans.delete_task")
        self.notes: list[str] = []
        self.stored: dict[int, TaskDetail] = {}
        self._load()
        self.pages = range(1, max(1, -(-len(self.stored) // PER_PAGE)) + 1)
        self.page = min(max(page, 1), self.pages[-1])
        on_page = list(self.stored)[(self.page - 1) * PER_PAGE : self.page * PER_PAGE]
        self.seen = on_page if data is None else _numbers(data.get("steps-shown", ""))
        if data is None:
            self.rows = [self._drawn(task_id) for task_id in on_page]
        else:
            self.rows = [self._sent(token, data) for token in _order(data, self.seen)]

    @property
    def shown(self) -> str:
        """Return the steps on the page in the order stored now, for the page to send back."""
        ids = {row.id for row in self.rows}
        return ",".join(str(task_id) for task_id in self.stored if task_id in ids)

    @property
    def template(self) -> StepRow:
        """Return the row that the page copies for each new step."""
        return StepRow(f"{NEW}__n__", None, StepFields(prefix=f"steps-{NEW}__n__"))

    def is_valid(self) -> bool:
        """Find which rows the person touched, and tell whether what they typed holds."""
        for row in self.rows:
            if row.form and not row.delete and not row.blank:
                row.changed = row.id is None or row.form.touched
        return all(row.form.is_valid() for row in self.rows if row.changed and row.form)

    def save(self, *, actor: Actor, plan_id: int) -> None:
        """Delete, change, move and add, through the services: all of it, or nothing.

        Raises:
            Refused: the reasons are on the rows.
        """
        with transaction.atomic():
            for row in self.rows:
                if row.delete and row.id in self.stored:
                    with self._attempt(row):
                        self._permit("delete")
                        tasks.delete_task(actor=actor, task_id=row.id, version=row.version)
                elif row.changed and row.id and row.form:
                    with self._attempt(row):
                        self._permit("change")
                        fields = row.form.validated()
                        tasks.patch_task(actor=actor, task_id=row.id, version=row.version, **fields)
            self._move(actor)
            self._add(actor, plan_id)
            if any(row.errors for row in self.rows):
                raise Refused
        self._note_others()

    def redraw(self) -> None:
        """After a refusal: what is stored in rows the person left alone, both texts in others.

        A row whose newer text is now on the page may be saved over it, knowingly.
        """
        self._load()
        rows = []
        for row in self.rows:
            row.task = self.stored.get(row.id) if row.id else None
            if row.changed:
                if row.form and row.task and row.task.version != row.version:
                    row.stored = row.task
                    row.form.renew(row.task)
                rows.append(row)
            elif row.id is None:
                rows.append(row)
            elif row.task:
                rows.append(self._redrawn(row))
        self.rows = rows

    def _load(self) -> None:
        steps = steps_of(plan_id=self.plan_id) if self.plan_id else []
        self.stored = {task.id: task for task in steps}

    def _drawn(self, task_id: int) -> StepRow:
        task = self.stored[task_id]
        form = None
        if task.editable and self.may_change:
            form = StepFields(prefix=f"steps-{task_id}", initial=initial_for(task))
        return StepRow(str(task_id), task, form, task.version)

    def _redrawn(self, row: StepRow) -> StepRow:
        drawn = self._drawn(int(row.token))
        drawn.errors = row.errors
        drawn.delete = row.delete and not row.errors
        if row.errors and drawn.version != row.version:
            drawn.stored = drawn.task
        return drawn

    def _sent(self, token: str, data: Mapping[str, Any]) -> StepRow:
        prefix = f"steps-{token}"
        form = StepFields(data, prefix=prefix) if f"{prefix}-title" in data else None
        version = data.get(f"{prefix}-version", "")
        return StepRow(
            token,
            None if token.startswith(NEW) else self.stored.get(int(token)),
            form,
            int(version) if version.isdecimal() and len(version) < 10 else 0,
            delete=f"{prefix}-delete" in data,
        )

    @contextmanager
    def _attempt(self, row: StepRow) -> Iterator[None]:
        """Put what is refused on the row that asked for it."""
        try:
            yield
        except DomainError as error:
            row.refuse(error)

    def _permit(self, permission: str) -> None:
        if not self.person.has_perm(f"plans.{permission}_task"):
            raise Forbidden(_("You may look, but not do this: ask an administrator."))

    def _move(self, actor: Actor) -> None:
        rows = {row.id: row for row in self.rows if row.id in self.stored and not row.delete}
        wanted = [task_id for task_id in rows if task_id is not None]
        seen = [task_id for task_id in self.seen if task_id in rows]
        if wanted == seen:
            return
        active = next((t for t in wanted if not self.stored[t].editable), None)
        # Drawn as active, it had no handle: the others went around it.
        known = active is not None and rows[active].version == self.stored[active].version
        movers = moved(seen, wanted, fixed=active if known else None)
        if active and not known and active not in movers and displaced(active, seen, wanted):
            movers.insert(0, active)
        for task_id in movers:
            index = wanted.index(task_id)
            previous = wanted[index - 1] if index else None
            with self._attempt(rows[task_id]):
                self._permit("change")
                place(actor=actor, task_id=task_id, after=previous, before=seen[0])

    def _add(self, actor: Actor, plan_id: int) -> None:
        previous: int | None = None
        there = [row.id for row in self.rows if row.id in self.stored and not row.delete]
        for row in self.rows:
            if row.id in there:
                previous = row.id
            elif row.id is None and row.changed and row.form:
                with self._attempt(row):
                    self._permit("add")
                    fields = row.form.validated()
                    task = tasks.add_task(actor=actor, plan_id=plan_id, after=previous, **fields)
                    if previous is None and there:
                        place(actor=actor, task_id=task.pk, after=None, before=there[0])
                    previous = task.pk

    def _note_others(self) -> None:
        """Say what changed under rows that the person left alone."""
        for row in self.rows:
            if row.id is None or row.changed or row.delete:
                continue
            if row.task is None:
                self.notes.append(_("Step #{id} was deleted meanwhile.").format(id=row.id))
            elif row.task.version != row.version:
                note = _("Step #{id} changed meanwhile, and is left as it is now: « {status} ».")
                status = TaskStatus(row.task.status).label
                self.notes.append(note.format(id=row.id, status=status))


def _numbers(text: str) -> list[int]:
    parts = (part for part in text.split(",") if part.isdecimal() and len(part) < 19)
    return list(dict.fromkeys(int(part) for part in parts))


def _order(data: Mapping[str, Any], seen: list[int]) -> list[str]:
    """Return the rows that the page sent, in the order it sent, each once."""
    known = {str(task_id) for task_id in seen}
    sent = dict.fromkeys(data.get("steps-order", "").split(","))
    tokens = [token for token in sent if token in known or _is_new(token)]
    return [*tokens, *(str(task_id) for task_id in seen if str(task_id) not in sent)]


def _is_new(token: str) -> bool:
    number = token.removeprefix(NEW)
    return token.startswith(NEW) and number.isdecimal() and len(number) < 5
