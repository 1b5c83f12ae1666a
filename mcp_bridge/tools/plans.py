"""Steps of plans, one at a time: take the next one, have it validated, say that one is stuck."""

from collections.abc import Sequence
from functools import partial

from django.utils.translation import gettext as _

from coordination.actors import Actor
from coordination.models import Session
from mcp_bridge.crossing import in_database
from mcp_bridge.tool import Number, Progress, Text, Tool
from plans.models import ValidationMode
from plans.runner.validation import Runner
from plans.selectors.tasks import TaskDetail, task_detail
from plans.services import steps, transitions
from plans.states import TaskStatus

EVIDENCE_SHOWN = 1500
"""Characters of what a validation printed, its end, that a failed attempt's answer shows."""


def next_step(actor: Actor) -> str:
    """Give the one step to work on, or say why there is none."""
    found = steps.next_step(actor=actor)
    if found.task is None:
        return _("No step waiting for {project}.").format(project=found.project)
    return state(found.task)


async def validate_step(
    runner: Runner, actor: Actor, *, progress: Progress, came: float, task_id: int, proof: str
) -> str:
    """Have the current step validated: by a human, or by its rule while other calls are served."""

    def submitted() -> bool:
        if task_detail(task_id=task_id).validation_mode != ValidationMode.MANUAL:
            return False
        transitions.submit_for_human(actor=actor, task_id=task_id, proof=proof)
        return True

    if await in_database(submitted):
        return awaiting_human(task_id)
    validation = await runner.validate(actor=actor, task_id=task_id, progress=progress, since=came)
    task = validation.task
    if task.status == TaskStatus.DONE:
        return _("Step #{id} validated. mf_next_step gives what comes next.").format(id=task.id)
    if task.status == TaskStatus.CURRENT:
        return attempt_failed(task)
    return state(task)


def block_step(actor: Actor, *, task_id: int, reason: str) -> str:
    """Stop at the current step and leave it to a human."""
    transitions.block_step(actor=actor, task_id=task_id, reason=reason)
    return _("Step #{id} blocked: {reason}. Wait for the human.").format(
        id=task_id, reason=reason.rstrip()
    )


def state(task: TaskDetail) -> str:
    """Say what an agent does about the step that decides."""
    match task.status:
        case TaskStatus.AWAITING_HUMAN:
            return awaiting_human(task.id)
        case TaskStatus.VALIDATING:
            return _("Step #{id}: validation under way. Call mf_next_step again shortly.").format(
                id=task.id
            )
        case TaskStatus.FAILED:
            return _("Step #{id} failed: {error}. The human must reset or skip it.").format(
                id=task.id, error=task.last_error
            )
        case TaskStatus.BLOCKED:
            return _("Step #{id} blocked: {error}. The human must reset or skip it.").format(
                id=task.id, error=task.last_error
            )
    return current(task)


def awaiting_human(task_id: int) -> str:
    """Say that a human has the step now."""
    return _("Step #{id} awaits human validation. Stop here.").format(id=task_id)


def current(task: TaskDetail) -> str:
    """Show the step to work on, and how to finish it."""
    mode = ValidationMode(task.validation_mode)
    blocks = [
        "\n".join(
            (
                _("Step #{id} — {title}").format(id=task.id, title=task.title),
                _("Plan: {title}").format(title=task.plan_title),
                _("Validation: {mode} ({words})").format(mode=mode.value, words=mode.label),
            )
        ),
        task.instructions,
    ]
    if task.last_error:
        blocks.append(_("To take into account: {error}").format(error=task.last_error))
    blocks.append(
        _(
            "When it is done: mf_validate_step({id}). If you cannot go on: "
            "mf_block_step({id}, reason)."
        ).format(id=task.id)
    )
    return "\n\n".join(blocks)


def attempt_failed(task: TaskDetail) -> str:
    """Say what to put right, and that another attempt is allowed."""
    text = _(
        "Step #{id} not validated, attempt {attempts} of {allowed}: {error}. Put it right, then "
        "mf_validate_step({id}); or mf_block_step({id}, reason)."
    ).format(id=task.id, attempts=task.attempts, allowed=task.max_attempts, error=task.last_error)
    evidence = task.last_proof[-EVIDENCE_SHOWN:].strip()
    return f"{text}\n\n{evidence}" if evidence else text


def _proof(_sessions: Sequence[Session]) -> str:
    return _("what you did, for the human to check")


def tools(runner: Runner) -> tuple[Tool, ...]:
    """Return the step tools; `runner` holds the validations of this process."""
    return (
        Tool(
            name="mf_next_step",
            description=lambda: _("Get your one step to do. Call it again at will."),
            handler=next_step,
            idempotent=True,
            recalls_inbox=True,
        ),
        Tool(
            name="mf_validate_step",
            description=lambda: _(
                "Your step is done: have it validated, by its rule or by a human (then stop)."
            ),
            handler=partial(validate_step, runner),
            parameters=(
                Number(name="task_id"),
                Text(name="proof", required=False, description=_proof),
            ),
            takes_long=True,
            recalls_inbox=True,
        ),
        Tool(
            name="mf_block_step",
            description=lambda: _("You cannot finish your step: stop, and say why to the human."),
            handler=block_step,
            parameters=(Number(name="task_id"), Text(name="reason")),
            recalls_inbox=True,
        ),
    )
