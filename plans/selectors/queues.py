"""Every project's queue as the board shows it: all plans by their progress, one plan opened."""

from collections.abc import Collection
from dataclasses import dataclass, field

from django.db.models import Q

from coordination.text import fold
from plans.models import Plan, Task
from plans.selectors.plans import PlanRow, rows_of
from plans.selectors.tasks import TaskDetail, details
from plans.states import PlanStatus

FINISHED_SHOWN = 50
"""Finished plans on the board, the latest ones: the rest is history, which the admin shows."""


@dataclass(frozen=True, slots=True)
class Queue:
    """A project's plans in order, and the steps of those that are opened, by plan."""

    rows: list[PlanRow] = field(default_factory=list)
    deciding: int | None = None
    steps: dict[int, list[TaskDetail]] = field(default_factory=dict)


def queues(
    *, projects: Collection[str], task_id: int | None = None, with_steps: bool = True
) -> dict[str, Queue]:
    """Return the queue of each project: four queries, whatever the number of plans and steps.

    The deciding plans come with their steps, unless `with_steps` is false; so does the plan that
    holds `task_id`.
    """
    mine = Plan.objects.filter(project__in=projects)
    finished = mine.filter(status=PlanStatus.DONE).order_by("-updated_at", "-id")
    latest = list(finished.values_list("pk", flat=True)[:FINISHED_SHOWN])
    shown = Q(status__in=(PlanStatus.ACTIVE, PlanStatus.PAUSED)) | Q(pk__in=latest)
    by_project: dict[str, list[PlanRow]] = {project: [] for project in projects}
    for row in rows_of(mine.filter(shown)):
        by_project[row.project].append(row)
    deciding = {project: _deciding(rows) for project, rows in by_project.items()}
    opened = Q(plan__in=[plan_id for plan_id in deciding.values() if plan_id and with_steps])
    if task_id is not None:
        opened |= Q(plan__in=Task.objects.filter(pk=task_id).values("plan"))
    steps: dict[str, dict[int, list[TaskDetail]]] = {project: {} for project in projects}
    for task in details(Task.objects.filter(opened).order_by("plan_id", "position", "id")):
        steps.get(task.project, {}).setdefault(task.plan_id, []).append(task)
    return {
        project: Queue(rows, deciding[project], steps[project])
        for project, rows in by_project.items()
    }


def steps_of(*, plan_id: int) -> list[TaskDetail]:
    """Return a plan's steps in order."""
    return details(Task.objects.filter(plan=plan_id).order_by("position", "id"))


def search(*, text: str, limit: int = 8) -> tuple[list[PlanRow], list[TaskDetail]]:
    """Return plans and steps whose title or number matches, newest first.

    Case and accents do not count; `%` and `_` are ordinary characters.
    """
    number = Q(pk=int(text)) if text.isdecimal() and len(text) < 19 else Q()
    titled = Q(title_folded__contains=fold(text))
    wanted = titled | number if number else titled
    live = ~Q(status=PlanStatus.ARCHIVED)
    plans = Plan.objects.filter(wanted, live).order_by("-id")[:limit]
    steps = Task.objects.filter(wanted).exclude(plan__status=PlanStatus.ARCHIVED)
    found = rows_of(Plan.objects.filter(pk__in=[plan.pk for plan in plans]))
    return found, details(steps.order_by("-id")[:limit])


def _deciding(rows: list[PlanRow]) -> int | None:
    unsettled = (r.id for r in rows if r.status == PlanStatus.ACTIVE and r.settled < r.total)
    return next(unsettled, None)
