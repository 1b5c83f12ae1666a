"""What a notification says, as long as there is still something to do."""

import datetime as dt
from dataclasses import dataclass

from django.conf import settings
from django.db.models import CharField, Exists, OuterRef, Value
from django.db.models.functions import Cast, Concat
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.events import Verb
from coordination.models import HUMAN, Event, Message, MessageStatus, Session
from coordination.selectors.sessions import Bucket, agent_sessions, bucket_of
from notifications.models import Delivery, DeliveryStatus, Occasion
from notifications.selectors.targets import Listener
from plans.events import Verb as PlanVerb
from plans.models import Task
from plans.selectors.tasks import TaskDetail, details
from plans.states import PlanStatus, TaskStatus

BODY_SHOWN = 1000
"""Characters of a body, proof or error that are sent where people chose to have them."""
STALE_AT_ONCE = 100
"""Questions that one look tells one target; the next look goes on."""

_TASK_OCCASIONS = {
    PlanVerb.TASK_SUBMITTED: Occasion.AWAITING,
    PlanVerb.TASK_FAILED: Occasion.FAILED,
    PlanVerb.TASK_CRASHED: Occasion.FAILED,
    PlanVerb.TASK_BLOCKED: Occasion.BLOCKED,
}
_STATUS_OF = {
    Occasion.AWAITING: TaskStatus.AWAITING_HUMAN,
    Occasion.FAILED: TaskStatus.FAILED,
    Occasion.BLOCKED: TaskStatus.BLOCKED,
}


@dataclass(frozen=True, slots=True)
class Notice:
    """A message's words; `anchor` is the place on the board, `body` what was written there."""

    title: str
    text: str
    anchor: str
    body: str


def occasion_of(event: Event) -> tuple[Occasion, str] | None:
    """Return what an event is an occasion for, and the project that it concerns."""
    if event.verb in PlanVerb.values and (found := _TASK_OCCASIONS.get(PlanVerb(event.verb))):
        return found, str(event.data.get("project", ""))
    if event.verb == Verb.ASKED and event.data.get("to") == HUMAN:
        return Occasion.ASKED, event.actor.partition(":")[0]
    return None


def notice(*, occasion: str, subject: str) -> Notice | None:
    """Return what to say now; None when it was handled, or is gone."""
    number = int(subject.partition(":")[2])
    if occasion in _STATUS_OF:
        return _about_task(Occasion(occasion), number)
    return _about_question(Occasion(occasion), number)


def overdue(*, listener: Listener, now: dt.datetime) -> list[tuple[int, int]]:
    """Return the questions that wait too long for a session that is away, and are not told yet.

    Each with the second in which that session was last seen, 0 for never.
    """
    seen = {session.key: session.last_seen for session in _away(now)}
    keys = [key for key in seen if not listener.projects or key in listener.projects]
    asked_since = max(listener.since, now - dt.timedelta(days=settings.EVENT_RETENTION_DAYS))
    told = Delivery.objects.filter(
        target=listener.id,
        occasion=Occasion.STALE,
        subject=Concat(Value("message:"), Cast(OuterRef("pk"), CharField())),
    ).exclude(status=DeliveryStatus.DROPPED)
    rows = Message.objects.filter(
        ~Exists(told),
        parent__isnull=True,
        status=MessageStatus.OPEN,
        to_session__in=keys,
        created_at__gte=asked_since,
        created_at__lt=now - dt.timedelta(minutes=listener.stale_minutes),
    ).order_by("created_at", "id")
    found = rows.values_list("pk", "to_session")[:STALE_AT_ONCE]
    return [(pk, int(at.timestamp()) if (at := seen[key]) else 0) for pk, key in found]


def _away(now: dt.datetime) -> list[Session]:
    return [s for s in agent_sessions() if bucket_of(s.last_seen, now) == Bucket.STALE]


def _is_away(session: Session | None) -> bool:
    return session is not None and bucket_of(session.last_seen, timezone.now()) == Bucket.STALE


def _about_task(occasion: Occasion, task_id: int) -> Notice | None:
    rows = Task.objects.filter(pk=task_id, status=_STATUS_OF[occasion])
    found = details(rows.exclude(plan__status=PlanStatus.ARCHIVED))
    if not found:
        return None
    task = found[0]
    body = task.last_proof if occasion == Occasion.AWAITING else task.last_error
    return Notice(
        title=_task_title(occasion, task),
        text=_("Plan: {title}").format(title=task.plan_title),
        anchor=f"task-{task.id}",
        body=_shortened(body),
    )


def _task_title(occasion: Occasion, task: TaskDetail) -> str:
    sentences = {
        Occasion.AWAITING: _("Validate step #{id} of {project}: {title}"),
        Occasion.FAILED: _("Reset or skip step #{id} of {project}, which failed: {title}"),
        Occasion.BLOCKED: _("Reset or skip step #{id} of {project}, which is blocked: {title}"),
    }
    return sentences[occasion].format(id=task.id, project=task.project, title=task.title)


def _about_question(occasion: Occasion, message_id: int) -> Notice | None:
    rows = Message.objects.filter(pk=message_id, parent__isnull=True, status=MessageStatus.OPEN)
    question = rows.select_related("to_session").first()
    if question is None or (occasion == Occasion.STALE and not _is_away(question.to_session)):
        return None
    if occasion == Occasion.STALE:
        sentence = _("{to} is away; see to question #{id} from {sender}: {title}")
    else:
        sentence = _("Answer question #{id} from {sender}: {title}")
    return Notice(
        title=sentence.format(
            id=question.pk,
            sender=question.from_session_id,
            to=question.to_session_id,
            title=question.subject,
        ),
        text="",
        anchor=f"question-{question.pk}",
        body=_shortened(question.body),
    )


def _shortened(text: str) -> str:
    return text if len(text) <= BODY_SHOWN else f"{text[:BODY_SHOWN]}…"
