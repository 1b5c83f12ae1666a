"""Name the parts of the board, and tell which of them an event changes."""

from coordination.events import Verb
from coordination.models import Event
from plans.events import Verb as PlanVerb

BOARD = "board"
FOR_YOU = "for-you"
QUESTIONS = "questions"
ACTIVITY = "activity"

COUNTING = (PlanVerb.TASK_ADDED, PlanVerb.TASK_DELETED)
"""A plan's first step makes it decide before those after it; without its last it no longer does."""
REORDERING = (PlanVerb.TASK_MOVED, *COUNTING)


def fragments_of(event: Event) -> tuple[str, ...]:
    """Return the names of the fragments that `event` makes out of date.

    A page fetches those it shows: an opened plan's steps, an opened step, an open thread.
    """
    kind, _colon, key = event.subject.partition(":")
    if event.verb == Verb.SEEN:
        return (f"presence-{key}", FOR_YOU)
    if kind == "session":
        return (BOARD, FOR_YOU, ACTIVITY)
    if kind == "message":
        return (FOR_YOU, QUESTIONS, f"thread-{key}", ACTIVITY)
    if kind == "plan":
        return (FOR_YOU, f"column-{event.data.get('project')}", f"steps-{key}", ACTIVITY)
    plan = event.data.get("plan")
    # A step's row alone where its place did not change: a long plan is not drawn again for it.
    rows = f"steps-{plan}" if event.verb in REORDERING else f"step-{key}"
    counts = event.verb in COUNTING
    heading = f"column-{event.data.get('project')}" if counts else f"plan-{plan}"
    return (FOR_YOU, heading, rows, f"task-{key}", ACTIVITY)
