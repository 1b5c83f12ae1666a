"""Every change of a step's status: the rows of `plans.states.TRANSITIONS`, one function a door."""

from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.actors import Actor
from coordination.errors import Conflict, Forbidden, Invalid
from coordination.text import checked_text, require
from plans.events import VERB_OF, task_changed
from plans.models import Plan, PlanStatus, Task, ValidationMode
from plans.services.plans import people_only, settle
from plans.services.tasks import locked, refuse_if_stale
from plans.states import HUMAN_EVENTS, TRANSITIONS, TaskEvent, TaskStatus, Who


def submit_for_human(*, actor: Actor, task_id: int, proof: str = "") -> None:
    """Hand the current step, which a human validates, to one; `proof` says what was done.

    Raises:
        NotFound, Forbidden, Conflict, Invalid.
    """
    proof = checked_text("proof", proof)
    with transaction.atomic():
        plan, task = locked(task_id)
        check_agent(actor, TaskEvent.SUBMIT, plan, task)
        if task.validation_mode != ValidationMode.MANUAL:
            raise wrong_mode(task)
        apply(actor, TaskEvent.SUBMIT, plan, task, attempts=F("attempts") + 1, last_proof=proof)


def block_step(*, actor: Actor, task_id: int, reason: str) -> None:
    """Stop at the current step, which the agent cannot finish, and say why.

    Raises:
        NotFound, Forbidden, Conflict, MissingFields, Invalid.
    """
    require(reason=reason)
    reason = checked_text("reason", reason)
    with transaction.atomic():
        plan, task = locked(task_id)
        check_agent(actor, TaskEvent.BLOCK, plan, task)
        apply(actor, TaskEvent.BLOCK, plan, task, last_error=reason)


def validate_task(*, actor: Actor, task_id: int, version: int | None = None) -> None:
    """Accept a step that awaits a human.

    Raises:
        NotFound, Forbidden, Conflict. Stale: not the `version` that the person saw.
    """
    _by_human(actor, TaskEvent.VALIDATE, task_id, version, last_error="")


def reject_task(*, actor: Actor, task_id: int, remark: str, version: int | None = None) -> None:
    """Send a step that awaits a human back to its agent, saying why.

    Raises:
        NotFound, Forbidden, Conflict, MissingFields, Invalid, Stale.
    """
    people_only(actor)
    require(remark=remark)
    remark = checked_text("remark", remark)
    _by_human(actor, TaskEvent.REJECT, task_id, version, last_error=remark)


def reset_task(*, actor: Actor, task_id: int, version: int | None = None) -> None:
    """Put a failed or blocked step back in the queue, as new.

    Raises:
        NotFound, Forbidden, Conflict, Stale.
    """
    _by_human(actor, TaskEvent.RESET, task_id, version, attempts=0, last_error="", started_at=None)


def skip_task(*, actor: Actor, task_id: int, version: int | None = None) -> None:
    """Do without a step. An agent still at work on it is told so when it validates.

    Raises:
        NotFound, Forbidden, Conflict, Stale.
    """
    _by_human(actor, TaskEvent.SKIP, task_id, version)


def act(
    *, actor: Actor, task_id: int, action: str, remark: str = "", version: int | None = None
) -> None:
    """Do a person's action by its name in `TaskEvent`: what REST, admin and board buttons send.

    Raises:
        NotFound, Forbidden, Conflict, MissingFields, Invalid, Stale.
    """
    if action == TaskEvent.REJECT:
        reject_task(actor=actor, task_id=task_id, remark=remark, version=version)
    else:
        doors = {
            TaskEvent.VALIDATE: validate_task,
            TaskEvent.RESET: reset_task,
            TaskEvent.SKIP: skip_task,
        }
        if action not in doors:
            raise Invalid(
                "action",
                _("{field}: choose one of {choices}.").format(
                    field="action", choices=", ".join(HUMAN_EVENTS)
                ),
            )
        doors[TaskEvent(action)](actor=actor, task_id=task_id, version=version)


def check_agent(actor: Actor, event: TaskEvent, plan: Plan, task: Task) -> None:
    """Refuse an agent that acts on what is not its own current step.

    Raises:
        Forbidden: another project's step. Conflict: not current, or its plan is paused.
    """
    if actor.session != plan.project_id:
        raise Forbidden(
            _(
                "step #{id} belongs to {project}, not to {session}; mf_next_step gives yours."
            ).format(id=task.pk, project=plan.project_id, session=actor.session)
        )
    if task.status not in TRANSITIONS[event].sources:
        raise refusal(event, task.pk, task.status)
    if plan.status == PlanStatus.PAUSED:
        raise Conflict(
            _(
                "step #{id} keeps its place, but a human paused its plan; "
                "mf_next_step says what to do meanwhile."
            ).format(id=task.pk),
            code="plan_paused",
        )


def refusal(event: TaskEvent, task_id: int, status: str) -> Conflict:
    """Return the one sentence, at every door, for an event that the state found does not allow."""
    row = TRANSITIONS[event]
    needed = _(" or ").join(f"« {source.label} »" for source in row.sources)
    message = _("step #{id} is « {status} »: « {event} » needs {needed}.").format(
        id=task_id, status=TaskStatus(status).label, event=event.label, needed=needed
    )
    if row.who == Who.AGENT:
        message += " " + _("mf_next_step says what to do.")
    return Conflict(message, code="wrong_state")


def wrong_mode(task: Task) -> Conflict:
    """Return the refusal of a validation by somebody else than the step's mode says."""
    return Conflict(
        _("step #{id} is validated {mode}.").format(
            id=task.pk, mode=ValidationMode(task.validation_mode).label
        ),
        code="wrong_mode",
    )


def apply(actor: Actor, event: TaskEvent, plan: Plan, task: Task, **values: Any) -> None:
    """Take a step along one row of the table, with its event and what follows for its plan.

    Raises:
        Conflict: the row does not start from the state found.
    """
    row = TRANSITIONS[event]
    now = timezone.now()
    if row.target in (TaskStatus.DONE, TaskStatus.SKIPPED):
        values["completed_at"] = now
    changed = Task.objects.filter(pk=task.pk, status__in=row.sources).update(
        status=row.target,
        status_since=now,
        updated_at=now,
        version=F("version") + 1,
        **values,
    )
    if not changed:
        raise refusal(event, task.pk, task.status)
    task_changed(actor=actor, verb=VERB_OF[event], plan=plan, task_id=task.pk, title=task.title)
    settle(actor=actor, plan=plan)


def _by_human(
    actor: Actor, event: TaskEvent, task_id: int, version: int | None, **values: Any
) -> None:
    people_only(actor)
    with transaction.atomic():
        plan, task = locked(task_id)
        refuse_if_stale(task, version)
        apply(actor, event, plan, task, **values)
