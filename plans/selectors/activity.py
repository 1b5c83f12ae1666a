"""What happened to a plan and its steps, from the event feed."""

import datetime as dt
from dataclasses import dataclass

from coordination.models import Event
from plans.events import Verb
from plans.models import Task

_STEPS_LOOKED_AT = 200
"""Of a plan, the latest ones: each is an index look-up."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One line of an activity list."""

    at: dt.datetime
    actor: str
    text: str
    title: str


def plan_activity(*, plan_id: int, limit: int = 30) -> list[Happening]:
    """Return what happened to a plan and the steps it has now, newest first."""
    steps = Task.objects.filter(plan=plan_id).order_by("-pk").values_list("pk", flat=True)
    subjects = [f"plan:{plan_id}", *(f"task:{pk}" for pk in steps[:_STEPS_LOOKED_AT])]
    return _happenings(subjects, limit)


def task_activity(*, task_id: int, limit: int = 30) -> list[Happening]:
    """Return what happened to a step, newest first."""
    return _happenings([f"task:{task_id}"], limit)


def _happenings(subjects: list[str], limit: int) -> list[Happening]:
    labels = dict(Verb.choices)
    events = Event.objects.filter(subject__in=subjects).order_by("-pk")[:limit]
    return [
        Happening(
            at=event.at,
            actor=event.actor,
            text=str(labels.get(event.verb, event.verb)),
            title=str(event.data.get("title", "")),
        )
        for event in events
    ]
