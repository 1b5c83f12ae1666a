"""Alive is not working: steps that are current while their session calls no tool."""

import datetime as dt
from dataclasses import dataclass

from django.utils import timezone

from plans.models import Task
from plans.states import PlanStatus, TaskStatus


@dataclass(frozen=True, slots=True)
class SilentStep:
    """A current step, and since when its session has called nothing."""

    id: int
    title: str
    plan_id: int
    project: str
    current_since: dt.datetime
    silent_since: dt.datetime
    seconds: int  # of silence, until now


def silent_steps(*, at_least: int = 0, now: dt.datetime | None = None) -> list[SilentStep]:
    """Return the current steps of active plans by their session's silence, the longest first.

    Silence begins with the last call, or when the step became current if no call came after.
    """
    now = now or timezone.now()
    rows = Task.objects.filter(
        status=TaskStatus.CURRENT, plan__status=PlanStatus.ACTIVE
    ).values_list(
        "pk", "title", "plan_id", "plan__project_id", "status_since", "plan__project__last_seen"
    )
    found = []
    for pk, title, plan_id, project, since, last_seen in rows:
        silent = max(since, last_seen or since)
        seconds = max(0, int((now - silent).total_seconds()))
        if seconds >= at_least:
            found.append(SilentStep(pk, title, plan_id, project, since, silent, seconds))
    return sorted(found, key=lambda step: (step.silent_since, step.id))
