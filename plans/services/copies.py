"""Make plans and steps from others, and from text: all of it, or nothing."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.actors import Actor
from coordination.errors import DomainError, Invalid
from coordination.text import require
from plans.events import Verb, task_changed
from plans.models import TITLE_MAX, Plan, Task
from plans.portable import lists, markdown
from plans.portable.document import Document, Fault, Step
from plans.rules import stored_rule
from plans.services.plans import create_plan, lock, people_only, settle
from plans.services.tasks import GAP, checked, end_of

_WRITTEN = ("title", "instructions", "validation_mode", "validation_rule", "max_attempts")
"""What a person writes of a step."""


def duplicate_plan(
    *, actor: Actor, plan_id: int, title: str | None = None, project: str | None = None
) -> Plan:
    """Copy a plan with its steps, all pending, to the end of its project's queue or another's.

    Raises:
        NotFound, Forbidden, MissingFields, Invalid.
    """
    people_only(actor)
    with transaction.atomic():
        source = lock(plan_id)
        steps = Task.objects.filter(plan=source).order_by("position", "id")
        copy = create_plan(
            actor=actor,
            project=source.project_id if project is None else project,
            title=copy_title(source.title) if title is None else title,
        )
        _append(copy, list(steps.values(*_WRITTEN)))
    return copy


def import_plan(*, actor: Actor, text: str, project: str = "") -> Plan:
    """Make a plan of a Markdown text: see `plans.portable.markdown`.

    It goes to `project`, else to the one that the text names.

    Raises:
        Forbidden. Invalid: the text has faults; each is told with its line.
    """
    people_only(actor)
    document = markdown.read(text)
    values = _checked_steps(document)
    with transaction.atomic():
        try:
            plan = create_plan(
                actor=actor, project=project or document.project, title=document.title
            )
        except DomainError as error:
            raise refusal([Fault(1, error.message)]) from None
        _append(plan, values)
    return plan


def add_tasks_from_list(*, actor: Actor, plan_id: int, text: str) -> list[Task]:
    """Add a step for each item of a pasted list, at the end of a plan.

    Raises:
        NotFound, Forbidden, MissingFields. Invalid: each fault is told with its line.
    """
    people_only(actor)
    require(text=text)
    values = _checked_steps(lists.read(text))
    with transaction.atomic():
        plan = lock(plan_id)
        tasks = _append(plan, values)
        for task in tasks:
            task_changed(
                actor=actor, verb=Verb.TASK_ADDED, plan=plan, task_id=task.pk, title=task.title
            )
        settle(actor=actor, plan=plan)
    return tasks


def copy_title(title: str) -> str:
    """Return the title of a copy, no longer than a title may be."""
    pattern = _("{title} (copy)")
    return pattern.format(title=title[: TITLE_MAX - len(pattern.format(title=""))].rstrip())


def refusal(faults: Sequence[Fault]) -> Invalid:
    """Return the refusal of a text: one line for each fault."""
    return Invalid(
        "text",
        "\n".join(
            _("line {line}: {message}").format(line=fault.line, message=fault.message)
            for fault in sorted(faults, key=lambda fault: fault.line)
        ),
    )


def _checked_steps(document: Document) -> list[dict[str, Any]]:
    """Return the fields of every step as they are stored.

    Raises:
        Invalid: with every fault of the text.
    """
    faults, values = list(document.faults), []
    for step in document.steps:
        try:
            values.append(_checked_step(step))
        except DomainError as error:
            faults.append(Fault(step.line, error.message))
    if faults:
        raise refusal(faults)
    return values


def _checked_step(step: Step) -> dict[str, Any]:
    fields = {name: value for name, value in asdict(step).items() if name in _WRITTEN}
    require(title=step.title, instructions=step.instructions)
    fields["validation_rule"] = stored_rule(step.validation_mode, step.validation_rule)
    return checked(fields)


def _append(plan: Plan, steps: Sequence[dict[str, Any]]) -> list[Task]:
    """Add pending steps at the end of a locked plan, in one statement."""
    now, first = timezone.now(), end_of(plan)
    moments = {"created_at": now, "updated_at": now, "status_since": now}
    return Task.objects.bulk_create(
        Task(plan=plan, position=first + GAP * number, **moments, **fields)
        for number, fields in enumerate(steps)
    )
