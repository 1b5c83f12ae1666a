"""The life of a plan and of a step, in one readable table.

Services, admin, REST and the board's buttons all derive from `TRANSITIONS`.
"""

from dataclasses import dataclass

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class PlanStatus(TextChoices):
    """Where a plan stands in its project's queue."""

    ACTIVE = "active", _("active")  # its steps are given out in turn
    PAUSED = "paused", _("paused")  # a person lets the next plan through; nothing is lost
    DONE = "done", _("done")  # every step is settled, and there are some
    ARCHIVED = "archived", _("archived")  # put away by a person


class TaskStatus(TextChoices):
    """Where a step stands."""

    PENDING = "pending", _("pending")  # not given out yet
    CURRENT = "current", _("current")  # the agent works on it
    AWAITING_HUMAN = "awaiting_human", _("awaiting a human")  # a person must check it
    VALIDATING = "validating", _("being validated")  # its rule runs, under a lease
    DONE = "done", _("done")  # checked, by a person or by its rule
    FAILED = "failed", _("failed")  # its rule did not hold; the queue stops here
    BLOCKED = "blocked", _("blocked")  # the agent could not go on; the queue stops here
    SKIPPED = "skipped", _("skipped")  # a person decided to do without


ACTIVE = (TaskStatus.CURRENT, TaskStatus.AWAITING_HUMAN, TaskStatus.VALIDATING)
"""At most one step of a plan is in one of these, and its text cannot change meanwhile."""
SETTLED = (TaskStatus.DONE, TaskStatus.SKIPPED)
"""Nothing more to do."""
HALTED = (TaskStatus.FAILED, TaskStatus.BLOCKED)
"""The queue stops until a person decides."""
WAITING = (TaskStatus.AWAITING_HUMAN, *HALTED)
"""What waits for a person."""


class Who(TextChoices):
    """Who may cause an event."""

    AGENT = "agent"  # the session that owns the plan's project
    HUMAN = "human"  # a person, at any door
    RUNNER = "runner"  # the process that holds the validation's lease
    ANYONE = "anyone"  # whoever looks


class TaskEvent(TextChoices):
    """What can happen to a step; a person's events carry the names REST knows them by."""

    PROMOTE = "promote", _("promotion")
    SUBMIT = "submit", _("submission to a human")
    BEGIN = "begin", _("validation")
    PASS = "pass", _("success of the validation")
    RETRY = "retry", _("another attempt")
    FAIL = "fail", _("failure of the validation")
    BLOCK = "block", _("block")
    VALIDATE = "validate-manual", _("validate")
    REJECT = "reject", _("send back")
    RESET = "reset", _("reset")
    SKIP = "skip", _("skip")
    CRASH = "crash", _("runner's death")


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of the table: `event`, caused by `who`, takes a step from `sources` to `target`."""

    event: TaskEvent
    who: Who
    sources: tuple[TaskStatus, ...]
    target: TaskStatus
    needs_remark: bool = False


_S, _E = TaskStatus, TaskEvent

TRANSITIONS: dict[TaskEvent, Transition] = {
    row.event: row
    for row in (
        Transition(_E.PROMOTE, Who.AGENT, (_S.PENDING,), _S.CURRENT),
        Transition(_E.SUBMIT, Who.AGENT, (_S.CURRENT,), _S.AWAITING_HUMAN),
        Transition(_E.BEGIN, Who.AGENT, (_S.CURRENT,), _S.VALIDATING),
        Transition(_E.BLOCK, Who.AGENT, (_S.CURRENT,), _S.BLOCKED),
        Transition(_E.PASS, Who.RUNNER, (_S.VALIDATING,), _S.DONE),
        Transition(_E.RETRY, Who.RUNNER, (_S.VALIDATING,), _S.CURRENT),
        Transition(_E.FAIL, Who.RUNNER, (_S.VALIDATING,), _S.FAILED),
        Transition(_E.CRASH, Who.ANYONE, (_S.VALIDATING,), _S.FAILED),
        Transition(_E.VALIDATE, Who.HUMAN, (_S.AWAITING_HUMAN,), _S.DONE),
        Transition(_E.REJECT, Who.HUMAN, (_S.AWAITING_HUMAN,), _S.CURRENT, needs_remark=True),
        Transition(_E.RESET, Who.HUMAN, HALTED, _S.PENDING),
        Transition(
            _E.SKIP,
            Who.HUMAN,
            (_S.PENDING, _S.CURRENT, _S.AWAITING_HUMAN, *HALTED),
            _S.SKIPPED,
        ),
    )
}

HUMAN_EVENTS = tuple(row.event for row in TRANSITIONS.values() if row.who == Who.HUMAN)
"""What people do to a step, by the names that every door uses."""


def allowed_events(status: str, who: Who = Who.HUMAN) -> list[TaskEvent]:
    """Return what `who` may do to a step in `status`, in the table's order."""
    return [row.event for row in TRANSITIONS.values() if row.who == who and status in row.sources]


def editable(status: str) -> bool:
    """Tell whether a step's text, rule and place may change, or the step go."""
    return status not in ACTIVE
