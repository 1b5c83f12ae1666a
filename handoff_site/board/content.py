"""What each part of the board shows, as its template wants it."""

import datetime as dt
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination import events as coordination_events
from coordination.errors import NotFound
from coordination.models import HUMAN, Event, MessageStatus, Session
from coordination.selectors import events, messages, sessions
from coordination.selectors.messages import Question
from coordination.selectors.sessions import COUNT_CAP, Bucket, Total
from plans import events as plan_events
from plans.forms import rule_text
from plans.models import PlanStatus, TaskStatus, ValidationMode
from plans.selectors import plans as plan_selectors
from plans.selectors import queues, silence, tasks
from plans.selectors.plans import PlanRow
from plans.selectors.queues import Queue
from plans.selectors.tasks import TaskDetail

Person = User | AnonymousUser
Context = dict[str, Any]
Silences = dict[int, dt.datetime]

WAITING_SHOWN = 100
QUESTIONS_SHOWN = 100

ICONS: dict[str, str] = {
    TaskStatus.PENDING: "○",
    TaskStatus.CURRENT: "▶",
    TaskStatus.AWAITING_HUMAN: "◆",
    TaskStatus.VALIDATING: "⟳",
    TaskStatus.DONE: "✓",
    TaskStatus.FAILED: "✕",
    TaskStatus.BLOCKED: "⊘",
    TaskStatus.SKIPPED: "»",
}


def desk(user: Person, *, task_id: int | None = None) -> Context:
    """Return everything: a fixed number of queries, whatever there is to show.

    The plan that decides is opened in each column; so is the one that holds `task_id`.
    """
    last = events.last_event_id()  # read first: what comes later, the socket tells
    agents = sessions.agent_sessions()
    found = queues.queues(projects=[session.key for session in agents], task_id=task_id)
    silent = _silent_since()
    return {
        "last_event": last,
        "active_seconds": sessions.ACTIVE_SECONDS,
        "idle_seconds": sessions.IDLE_SECONDS,
        "columns": [_column(session, found[session.key], silent) for session in agents],
        **_for_you(agents),
        **questions(),
        **activity(),
        **rights(user),
    }


def for_you(user: Person) -> Context:
    """Return what waits for a person, oldest first."""
    return _for_you(sessions.agent_sessions()) | rights(user)


def questions() -> Context:
    """Return the open questions."""
    rows = messages.history(status=MessageStatus.OPEN, limit=QUESTIONS_SHOWN + 1)
    return {
        "open_questions": [labelled(question) for question in rows[:QUESTIONS_SHOWN]],
        "open_questions_more": len(rows) > QUESTIONS_SHOWN,
    }


def activity() -> Context:
    """Return what just happened, by whom."""
    return {"activity": [_line(event) for event in events.recent()]}


def presence(key: str) -> Context:
    """Return one session's presence."""
    return {"session": _seen(_session(key))}


def thread(message_id: int) -> Context:
    """Return a question with its answers."""
    found = messages.thread(message_id=message_id)
    return {"thread": {"question": labelled(found.question), "answers": found.answers}}


def column(user: Person, key: str) -> Context:
    """Return one project's column: the headings of its plans, whose steps are parts of their own.

    A page keeps the steps that it shows, and fetches those of a plan that opens.
    """
    queue = queues.queues(projects=[key], with_steps=False)[key]
    return {"column": _column(_session(key), queue, {})} | rights(user)


def plan(user: Person, plan_id: int) -> Context:
    """Return one plan's heading; its steps are a part of their own."""
    row = plan_selectors.plan_row(plan_id=plan_id)
    deciding = row.id == tasks.deciding_plan(row.project)
    return {"plan": _plan(row, deciding=deciding)} | rights(user)


def steps(user: Person, plan_id: int) -> Context:
    """Return the steps of one plan."""
    silent = _silent_since()
    found = [_task(step, silent) for step in queues.steps_of(plan_id=plan_id)]
    return {"plan": {"id": plan_id}, "steps": found} | rights(user)


def task(user: Person, task_id: int) -> Context:
    """Return one step, opened."""
    return {"task": _task(tasks.task_detail(task_id=task_id), _silent_since())} | rights(user)


def rights(user: Person) -> Context:
    """Return what this person may do: a button that would be refused is not shown."""
    return {
        "may": {
            "change": user.has_perm("plans.change_task"),
            "add": user.has_perm("plans.add_task"),
            "delete": user.has_perm("plans.delete_task"),
            "add_plan": user.has_perm("plans.add_plan"),
            "change_plan": user.has_perm("plans.change_plan"),
            "delete_plan": user.has_perm("plans.delete_plan"),
        },
        "can_ask": user.has_perm("coordination.add_message"),
        "can_answer": user.has_perm("coordination.add_message"),
        "can_close": user.has_perm("coordination.change_message"),
    }


def labelled(question: Question) -> Context:
    """Return a question with its status in words."""
    return asdict(question) | {"status_label": MessageStatus(question.status).label}


def _for_you(agents: list[Session]) -> Context:
    now = timezone.now()
    stale = [s.key for s in agents if sessions.bucket_of(s.last_seen, now) == Bucket.STALE]
    cards: list[Context] = [
        {"task": _task(step, {}), "since": step.status_since}
        for step in tasks.waiting(limit=WAITING_SHOWN)
    ] + [
        {"question": labelled(question), "since": question.created_at}
        for question in messages.waiting_for_people(stale=stale, limit=WAITING_SHOWN)
    ]
    cards.sort(key=lambda card: card["since"])
    return {
        "waiting": {"cards": cards[:WAITING_SHOWN], "total": _waiting_total(stale)},
        "agents": agents,
    }


def _waiting_total(stale: list[str]) -> Total:
    """Count what waits for a person, shown or not."""
    asked = sessions.oldest_open(to=[HUMAN, *stale], limit=COUNT_CAP + 1)
    return Total.of(tasks.waiting_count(), len(asked))


def _column(session: Session, queue: Queue, silent: Silences) -> Context:
    opened = {plan: [_task(step, silent) for step in steps] for plan, steps in queue.steps.items()}
    return {
        "session": _seen(session),
        "plans": [
            _plan(row, deciding=row.id == queue.deciding, steps=opened.get(row.id))
            for row in queue.rows
        ],
    }


def _seen(session: Session) -> Context:
    return {
        "key": session.key,
        "color": session.color,
        "description": session.description,
        "last_seen": session.last_seen,
        "bucket": sessions.bucket_of(session.last_seen, timezone.now()).value,
    }


def _plan(row: PlanRow, *, deciding: bool, steps: list[Context] | None = None) -> Context:
    """Return a plan's heading; its steps when they come with it, else they are fetched."""
    return {
        "id": row.id,
        "title": row.title,
        "status": row.status,
        "status_label": PlanStatus(row.status).label,
        "version": row.version,
        "total": row.total,
        "settled": row.settled,
        "deciding": deciding,
        "opened": steps is not None,
        "steps": steps,
    }


def _silent_since() -> Silences:
    """Return the current steps whose sessions have called nothing for minutes: since when."""
    found = silence.silent_steps(at_least=sessions.ACTIVE_SECONDS)
    return {step.id: step.silent_since for step in found}


def _task(step: TaskDetail, silent: Silences) -> Context:
    return asdict(step) | {
        "silent_since": silent.get(step.id),
        "events": [event.value for event in step.actions],
        "editable": step.editable,
        "icon": ICONS[step.status],
        "status_label": TaskStatus(step.status).label,
        "mode_label": ValidationMode(step.validation_mode).label,
        "rule_text": rule_text(step.validation_rule),
    }


def _session(key: str) -> Session:
    found = next((s for s in sessions.agent_sessions() if s.key == key), None)
    if found is None:
        raise NotFound(_("session {key} does not exist.").format(key=key[:60]))
    return found


VERBS = {verb.value: verb for verb in (*coordination_events.Verb, *plan_events.Verb)}


def _line(event: Event) -> Context:
    """Return one event as a sentence: "app" "answered #12 How do we…"."""
    verb = VERBS[event.verb].label if event.verb in VERBS else event.verb
    kind, _colon, key = event.subject.partition(":")
    named = key if kind == "session" else f"#{key}"
    text = " ".join(str(part) for part in (verb, named, event.data.get("title")) if part)
    return {
        "id": event.pk,
        "actor": event.actor.replace(":", " · "),
        "text": text,
        "at": event.at,
    }
