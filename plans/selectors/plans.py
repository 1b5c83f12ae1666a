"""Plans, alone or with their steps, and how far they are."""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from coordination.errors import NotFound
from plans.models import Plan, Task
from plans.selectors import tasks
from plans.selectors.tasks import TaskDetail
from plans.states import PlanStatus

SHOWN_ON_BOARD = (PlanStatus.ACTIVE, PlanStatus.PAUSED, PlanStatus.DONE)


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A plan as lists show it."""

    id: int
    project: str
    title: str
    status: str
    version: int
    created_at: dt.datetime
    updated_at: dt.datetime
    total: int  # steps
    settled: int  # of them, done or skipped


@dataclass(frozen=True, slots=True)
class PlanDetail:
    """A plan with its steps in order."""

    plan: PlanRow
    tasks: list[TaskDetail]

    @property
    def id(self) -> int:
        """Return the plan's id."""
        return self.plan.id

    @property
    def open(self) -> bool:
        """Tell whether the plan is in the queue and has something left to do."""
        return self.plan.status == PlanStatus.ACTIVE and self.plan.settled < self.plan.total


@dataclass(frozen=True, slots=True)
class Column:
    """One project's plans in queue order, and which one decides."""

    project: str
    plans: list[PlanDetail]
    deciding: int | None


_FIELDS = ("id", "project_id", "title", "status", "version", "created_at", "updated_at")


def plans(*, project: str = "", status: str = "", limit: int | None = None) -> list[PlanRow]:
    """Return the plans that match every filter given, in queue order."""
    rows = Plan.objects.all()
    if project:
        rows = rows.filter(project=project)
    if status:
        rows = rows.filter(status=status)
    return rows_of(rows)[:limit]


def plan_row(*, plan_id: int) -> PlanRow:
    """Return one plan without its steps.

    Raises:
        NotFound: no such plan.
    """
    found = rows_of(Plan.objects.filter(pk=plan_id))
    if not found:
        raise no_such_plan(plan_id)
    return found[0]


def plan_detail(*, plan_id: int) -> PlanDetail:
    """Return one plan with its steps.

    Raises:
        NotFound: no such plan.
    """
    row = plan_row(plan_id=plan_id)
    steps = Task.objects.filter(plan=plan_id).order_by("position", "id")
    return PlanDetail(row, tasks.details(steps))


def no_such_plan(plan_id: int) -> NotFound:
    """Return the refusal of a plan that does not exist."""
    return NotFound(_("plan #{id} does not exist.").format(id=plan_id))


def board(
    *, projects: Collection[str], statuses: Collection[str] = SHOWN_ON_BOARD
) -> dict[str, Column]:
    """Return the plans of `projects` with their steps: three queries, whatever their number."""
    rows = rows_of(Plan.objects.filter(project__in=projects, status__in=statuses))
    steps: dict[int, list[TaskDetail]] = {row.id: [] for row in rows}
    found = Task.objects.filter(plan__project__in=projects, plan__status__in=statuses)
    for task in tasks.details(found.order_by("plan_id", "position", "id")):
        # A plan made between the two queries waits for the next look.
        steps.setdefault(task.plan_id, []).append(task)
    columns: dict[str, Column] = {}
    for project in projects:
        mine = [PlanDetail(row, steps[row.id]) for row in rows if row.project == project]
        deciding = next((plan.id for plan in mine if plan.open), None)
        columns[project] = Column(project, mine, deciding)
    return columns


def rows_of(rows: QuerySet[Plan]) -> list[PlanRow]:
    """Return plans with their progress: one query for them, one for all their steps."""
    found = list(rows.order_by("created_at", "id").values_list(*_FIELDS))
    counts: dict[int, tuple[int, int]] = {
        plan_id: (total, settled)
        for plan_id, total, settled in Task.objects.filter(plan__in=[row[0] for row in found])
        .order_by()
        .values_list("plan_id")
        .annotate(total=Count("id"), done=Count("id", filter=Q(settled=True)))
    }
    return [PlanRow(*row, *counts.get(row[0], (0, 0))) for row in found]  # type: ignore[call-arg]
