"""Plans and steps in any state, made the short way: straight into the tables."""

from typing import Any

from coordination.actors import Actor
from plans.models import Plan, Task
from plans.selectors.tasks import task_detail
from plans.states import TaskStatus

PERSON = Actor.human("ada")
PANEL = Actor.agent("panel")
APP = Actor.agent("app")
RUNNER = "runner-1"


def make_plan(project: str = "panel", title: str = "A plan", **values: Any) -> Plan:
    """Return a plan at the end of a project's queue."""
    return Plan.objects.create(project_id=project, title=title, **values)


def make_task(plan: Plan, status: str = TaskStatus.PENDING, **values: Any) -> Task:
    """Return a step at the end of a plan, in any state."""
    defaults = {
        "position": 10 + 10 * Task.objects.filter(plan=plan).count(),
        "title": "A step",
        "instructions": "Do it.",
        "runner_id": RUNNER if status == TaskStatus.VALIDATING else "",
    }
    return Task.objects.create(plan=plan, status=status, **defaults | values)


def snapshot(task: Task) -> Any:
    """Return everything that is known of a step."""
    return task_detail(task_id=task.pk)
