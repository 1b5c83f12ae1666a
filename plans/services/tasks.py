"""Add, edit, move, delete steps."""

from dataclasses import asdict
from itertools import count
from typing import Any, TypedDict, Unpack

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.actors import Actor
from coordination.errors import Conflict, Invalid, NotFound, Stale
from coordination.text import checked_line, checked_text, fold, require
from plans.events import Verb, task_changed
from plans.models import MAX_ATTEMPTS, TITLE_MAX, Plan, Task, ValidationMode
from plans.rules import stored_rule
from plans.selectors.tasks import no_such_task, task_detail
from plans.services.plans import lock, people_only, settle
from plans.states import TaskStatus, editable

GAP = 10
"""Between two positions, so that a step can go between two others without renumbering."""
HIGHEST = 2_000_000_000
"""Past this, positions near what a database's integer holds: the plan is renumbered."""


class TaskFields(TypedDict, total=False):
    """What a person writes of a step."""

    title: str
    instructions: str
    validation_mode: str
    validation_rule: Any
    max_attempts: int


def add_task(
    *,
    actor: Actor,
    plan_id: int,
    title: str,
    instructions: str,
    validation_mode: str = ValidationMode.MANUAL,
    validation_rule: Any = None,
    max_attempts: int = 1,
    after: int | None = None,
) -> Task:
    """Add a step at the end of a plan, or right after the step `after`.

    Raises:
        NotFound, Forbidden, MissingFields, Invalid.
    """
    people_only(actor)
    require(title=title, instructions=instructions)
    values = checked({
        "title": title,
        "instructions": instructions,
        "validation_mode": validation_mode,
        "validation_rule": stored_rule(validation_mode, validation_rule),
        "max_attempts": max_attempts,
    })  # fmt: skip
    now = timezone.now()
    with transaction.atomic():
        plan = lock(plan_id)
        position = end_of(plan) if after is None else _place_after(plan, after)
        task = Task.objects.create(
            plan=plan, position=position, created_at=now, updated_at=now, status_since=now, **values
        )
        task_changed(
            actor=actor, verb=Verb.TASK_ADDED, plan=plan, task_id=task.pk, title=task.title
        )
        settle(actor=actor, plan=plan)
    return task


def patch_task(
    *,
    actor: Actor,
    task_id: int,
    version: int | None = None,
    **changes: Unpack[TaskFields],
) -> None:
    """Change what a person wrote of a step: what is not given stays.

    A change to manual validation drops the rule that was there.

    Raises:
        NotFound, Forbidden, MissingFields, Invalid. Conflict: the step is active.
        Stale: not the `version` that the person saw.
    """
    people_only(actor)
    require(**{name: changes[name] for name in _NEVER_NULL if name in changes})  # type: ignore[literal-required]
    with transaction.atomic():
        plan, task = locked(task_id)
        refuse_if_stale(task, version)
        _refuse_if_active(task)
        values = _changed(task, checked(_with_rule(task, changes)))
        if not values:
            return
        title = values.get("title", task.title)
        Task.objects.filter(pk=task_id).update(
            updated_at=timezone.now(),
            version=F("version") + 1,
            title_folded=fold(title),
            **values,
        )
        task_changed(actor=actor, verb=Verb.TASK_EDITED, plan=plan, task_id=task_id, title=title)
        settle(actor=actor, plan=plan)


def move_task(
    *,
    actor: Actor,
    task_id: int,
    direction: str | None = None,
    before: int | None = None,
    last: bool = False,
) -> None:
    """Swap a step with the one above ("up") or below ("down"), or put it before another or last.

    At the edge a swap changes nothing.

    Raises:
        NotFound, Forbidden, Invalid. Conflict: the step is active.
    """
    people_only(actor)
    if [direction is not None, before is not None, last].count(True) != 1:
        raise Invalid("direction", _("give either direction (up, down) or before, a step's id."))
    if direction not in {None, "up", "down"}:
        raise Invalid(
            "direction",
            _("{field}: choose one of {choices}.").format(field="direction", choices="up, down"),
        )
    with transaction.atomic():
        plan, task = locked(task_id)
        _refuse_if_active(task)
        moved = _swap(task, up=direction == "up") if direction else _move_before(task, before)
        if moved:
            task_changed(
                actor=actor, verb=Verb.TASK_MOVED, plan=plan, task_id=task_id, title=task.title
            )
            settle(actor=actor, plan=plan)


def delete_task(*, actor: Actor, task_id: int, version: int | None = None) -> None:
    """Delete a step that is not active.

    Raises:
        NotFound, Forbidden, Conflict. Stale: not the `version` that the person saw.
    """
    people_only(actor)
    with transaction.atomic():
        plan, task = locked(task_id)
        refuse_if_stale(task, version)
        _refuse_if_active(task)
        Task.objects.filter(pk=task_id).delete()
        task_changed(
            actor=actor, verb=Verb.TASK_DELETED, plan=plan, task_id=task_id, title=task.title
        )
        settle(actor=actor, plan=plan)


def locked(task_id: int) -> tuple[Plan, Task]:
    """Return a step and its plan, both safe from other writers until the transaction ends.

    Raises:
        NotFound: no such step.
    """
    # A step never changes plans, so that reading which one before locking it is safe.
    plan_id = Task.objects.filter(pk=task_id).values_list("plan_id", flat=True).first()
    if plan_id is None:
        raise no_such_task(task_id)
    try:
        plan = lock(plan_id)
        # The row too: a runner renews its lease without the plan's lock.
        return plan, Task.objects.select_for_update(no_key=True).get(pk=task_id)
    except (NotFound, Task.DoesNotExist):  # deleted while we waited for the lock
        raise no_such_task(task_id) from None


def refuse_if_stale(task: Task, version: int | None) -> None:
    """Refuse a change of a locked step that somebody else changed since `version`.

    Raises:
        Stale: its data holds the current state.
    """
    if version is not None and version != task.version:
        raise Stale(
            _("step #{id} was changed meanwhile: look at it again, then redo your change.").format(
                id=task.pk
            ),
            data={"current": asdict(task_detail(task_id=task.pk))},
        )


_NEVER_NULL = ("title", "instructions", "validation_mode", "max_attempts")


def _refuse_if_active(task: Task) -> None:
    if not editable(task.status):
        raise Conflict(
            _("step #{id} is « {status} »: it cannot be edited, moved or deleted now.").format(
                id=task.pk, status=TaskStatus(task.status).label
            ),
            code="active_step",
        )


def checked(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields as they are stored; the rule is checked already."""
    values = dict(fields)
    if "title" in values:
        values["title"] = checked_line("title", values["title"], maximum=TITLE_MAX)
    if "instructions" in values:
        values["instructions"] = checked_text("instructions", values["instructions"])
    attempts = values.get("max_attempts", 1)
    if isinstance(attempts, bool) or not 1 <= attempts <= MAX_ATTEMPTS:
        raise Invalid(
            "max_attempts",
            _("{field}: a whole number from {low} to {high}.").format(
                field="max_attempts", low=1, high=MAX_ATTEMPTS
            ),
        )
    return values


def _with_rule(task: Task, changes: TaskFields) -> dict[str, Any]:
    """Return the changes with the rule that will stand beside the mode that will stand."""
    fields: dict[str, Any] = dict(changes)
    if not {"validation_mode", "validation_rule"} & fields.keys():
        return fields
    mode = fields.get("validation_mode", task.validation_mode)
    kept = task.validation_rule if mode == task.validation_mode else None
    fields["validation_rule"] = stored_rule(mode, fields.get("validation_rule", kept))
    return fields


def _changed(task: Task, values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if getattr(task, name) != value}


def end_of(plan: Plan) -> int:
    """Return the position of a further step at the end of a locked plan."""
    last = Task.objects.filter(plan=plan).aggregate(last=Max("position"))["last"] or 0
    if last < HIGHEST:
        return last + GAP
    return _renumber(_order(plan.pk)) + GAP


def _place_after(plan: Plan, after: int) -> int:
    """Return a free position right after the step `after`, renumbering when there is none."""
    order = _order(plan.pk)
    index = _index(order, after, "after")
    if index == len(order) - 1:
        return end_of(plan)
    position, following = order[index][1], order[index + 1][1]
    if following - position > 1:
        return (position + following) // 2
    _renumber(order)
    return (index + 1) * GAP + GAP // 2


def _swap(task: Task, *, up: bool) -> bool:
    order = _order(task.plan_id)
    index = _index(order, task.pk, "task")
    other = index - 1 if up else index + 1
    if not 0 <= other < len(order):
        return False
    (_id, position), (neighbour, its_position) = order[index], order[other]
    if position == its_position:
        order[index], order[other] = order[other], order[index]
        _renumber(order)
    else:
        Task.objects.filter(pk=task.pk).update(position=its_position)
        Task.objects.filter(pk=neighbour).update(position=position)
    return True


def _move_before(task: Task, before: int | None) -> bool:
    """Put a step before another one, or last; tell whether that changed anything."""
    order = _order(task.plan_id)
    old = _index(order, task.pk, "task")
    target = len(order) if before is None else _index(order, before, "before")
    if target in {old, old + 1}:
        return False
    moved = order.pop(old)
    order.insert(target - (old < target), moved)
    _renumber(order)
    return True


def _order(plan_id: int) -> list[tuple[int, int]]:
    """Return (id, position) of a plan's steps, in order."""
    steps = Task.objects.filter(plan=plan_id).order_by("position", "id")
    return list(steps.values_list("pk", "position"))


def _index(order: list[tuple[int, int]], task_id: int, field: str) -> int:
    for index, (found, _position) in enumerate(order):
        if found == task_id:
            return index
    raise Invalid(
        field, _("{field}: step #{id} is not in this plan.").format(field=field, id=task_id)
    )


def _renumber(order: list[tuple[int, int]]) -> int:
    """Give the steps, in the order given, positions GAP apart; return the last one."""
    moved = [
        Task(pk=task_id, position=wanted)
        for wanted, (task_id, position) in zip(count(GAP, GAP), order, strict=False)
        if position != wanted
    ]
    Task.objects.bulk_update(moved, ["position"], batch_size=400)
    return len(order) * GAP
