"""The life of a plan and of a step, in one readable table.

Services, admin, REST and the board's buttons all derive from `TRANSITIONS`.
"""

from dataclasses import dataclass

from django.db.models import TextChoices
from django.utils.translation import pgettext_lazy


class PlanStatus(TextChoices):
    """Where a plan stands in its project's queue."""

    # its steps are given out in turn
    ACTIVE = "active", pgettext_lazy("plan", "active")
    # a person lets the next plan through; nothing is lost
    PAUSED = "paused", pgettext_lazy("plan", "paused")
    # every step is settled, and there are some
    DONE = "done", pgettext_lazy("plan", "done")
    # put away by a person
    ARCHIVED = "archived", pgettext_lazy("plan", "archived")


class TaskStatus(TextChoices):
    """Where a step stands."""

    # not given out yet
    PENDING = "pending", pgettext_lazy("step", "pending")
    # the agent works on it
    CURRENT = "current", pgettext_lazy("step", "current")
    # a person must check it
    AWAITING_HUMAN = "awaiting_human", pgettext_lazy("step", "awaiting a human")
    # its rule runs, under a lease
    VALIDATING = "validating", pgettext_lazy("step", "being validated")
    # checked, by a person or by its rule
    DONE = "done", pgettext_lazy("step", "done")
    # its rule did not hold; the queue stops here
    FAILED = "failed", pgettext_lazy("step", "failed")
    # the agent could not go on; the queue stops here
    BLOCKED = "blocked", pgettext_lazy("step", "blocked")
    # a person decided to do without
    SKIPPED = "skipped", pgettext_lazy("step", "skipped")


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

    PROMOTE = "promote", pgettext_lazy("event", "promotion")
    SUBMIT = "submit", pgettext_lazy("event", "submission to a human")
    BEGIN = "begin", pgettext_lazy("event", "validation")
    PASS = "pass", pgettext_lazy("event", "success of the validation")
    RETRY = "retry", pgettext_lazy("event", "another attempt")
    FAIL = "fail", pgettext_lazy("event", "failure of the validation")
    BLOCK = "block", pgettext_lazy("event", "block")
    VALIDATE = "validate-manual", pgettext_lazy("event", "validate")
    REJECT = "reject", pgettext_lazy("event", "send back")
    RESET = "reset", pgettext_lazy("event", "reset")
    SKIP = "skip", pgettext_lazy("event", "skip")
    CRASH = "crash", pgettext_lazy("event", "runner's death")


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
