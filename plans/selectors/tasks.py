"""One step, in full; and the step that decides what an agent does."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.errors import NotFound
from plans.models import Plan, Task
from plans.states import SETTLED, WAITING, PlanStatus, TaskEvent, TaskStatus, allowed_events
from plans.states import editable as is_editable


@dataclass(frozen=True, slots=True)
class TaskDetail:
    """A step with what its plan says about it."""

    id: int
    plan_id: int
    plan_title: str
    plan_status: str
    project: str
    position: int
    title: str
    instructions: str
    validation_mode: str
    validation_rule: Any
    max_attempts: int
    status: str
    status_since: dt.datetime
    attempts: int
    last_proof: str
    last_error: str
    started_at: dt.datetime | None
    completed_at: dt.datetime | None
    created_at: dt.datetime
    updated_at: dt.datetime
    version: int
    runner_id: str
    lease_expires_at: dt.datetime | None

    @property
    def actions(self) -> list[TaskEvent]:
        """Return what a person may do to it now, in the table's order."""
        return allowed_events(self.status)

    @property
    def editable(self) -> bool:
        """Tell whether its text, rule and place may change, or it may be deleted."""
        return is_editable(self.status)

    @property
    def settled(self) -> bool:
        """Tell whether nothing is left to do."""
        return self.status in SETTLED

    @property
    def waits(self) -> bool:
        """Tell whether a person is waited for."""
        return self.status in WAITING


_FIELDS = (
    "id", "plan_id", "plan__title", "plan__status", "plan__project_id", "position", "title",
    "instructions", "validation_mode", "validation_rule", "max_attempts", "status",
    "status_since", "attempts", "last_proof", "last_error", "started_at", "completed_at",
    "created_at", "updated_at", "version", "runner_id", "lease_expires_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NextStep:
    """What decides for `project`: a step, or nothing. Its status says what the agent does."""

    project: str
    task: TaskDetail | None

    @property
    def kind(self) -> str:
        """Return the deciding step's status, or "nothing"."""
        return self.task.status if self.task else "nothing"


def details(rows: QuerySet[Task]) -> list[TaskDetail]:
    """Return rows of steps as plain data, in one query."""
    return [TaskDetail(*row) for row in rows.values_list(*_FIELDS)]


def task_detail(*, task_id: int) -> TaskDetail:
    """Return one step.

    Raises:
        NotFound: no such step.
    """
    found = details(Task.objects.filter(pk=task_id))
    if not found:
        raise no_such_task(task_id)
    return found[0]


def no_such_task(task_id: int) -> NotFound:
    """Return the refusal of a step that does not exist."""
    return NotFound(_("step #{id} does not exist.").format(id=task_id))


def deciding_step(*, project: str) -> NextStep:
    """Return the step that decides for `project`, promoting nothing.

    The first active plan with an unsettled step decides: its active step if there is one, else
    its first unsettled one. Three index look-ups at most, whatever the number of steps.
    """
    plan_id = deciding_plan(project)
    if plan_id is None:
        return NextStep(project, None)
    steps = Task.objects.filter(plan=plan_id)
    found = details(steps.filter(active=True).order_by()) or details(
        steps.filter(settled=False).order_by("position", "id")[:1]
    )
    return NextStep(project, found[0] if found else None)


def deciding_plan(project: str) -> int | None:
    """Return the plan whose steps a project's agent is given now."""
    unsettled = Task.objects.filter(plan=OuterRef("pk"), settled=False)
    return (
        Plan.objects.filter(Exists(unsettled), project=project, status=PlanStatus.ACTIVE)
        .order_by("created_at", "id")
        .values_list("pk", flat=True)
        .first()
    )


def lease_is_over(task: TaskDetail, *, now: dt.datetime | None = None) -> bool:
    """Tell whether a step being validated has lost its runner."""
    if task.status != TaskStatus.VALIDATING:
        return False
    return task.lease_expires_at is None or task.lease_expires_at <= (now or timezone.now())


def waiting(*, projects: Iterable[str] | None = None, limit: int = 200) -> list[TaskDetail]:
    """Return the steps that wait for a person, longest first; not those of archived plans."""
    rows = Task.objects.filter(status__in=WAITING).exclude(plan__status=PlanStatus.ARCHIVED)
    if projects is not None:
        rows = rows.filter(plan__project__in=projects)
    return details(rows.order_by("status_since", "id")[:limit])


def waiting_count() -> int:
    """Count the steps that wait for a person."""
    rows = Task.objects.filter(status__in=WAITING).exclude(plan__status=PlanStatus.ARCHIVED)
    return rows.count()
