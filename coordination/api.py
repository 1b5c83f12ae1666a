"""REST for sessions and messages."""

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Query, Router, Status

from coordination.actors import Actor
from coordination.errors import Forbidden
from coordination.models import Session
from coordination.schemas import (
    AnswerIn,
    BackendOut,
    HealthOut,
    HistoryFilters,
    Id,
    QuestionIn,
    QuestionLineOut,
    ThreadOut,
)
from coordination.selectors import messages as message_selectors
from coordination.selectors import sessions as session_selectors
from coordination.selectors.messages import Question, Thread
from coordination.selectors.sessions import Health
from coordination.services import messages as message_services

router = Router()


class SignedInRequest(HttpRequest):
    """A request that passed the door: `auth` is the person it acts for."""

    auth: User


def acting(request: SignedInRequest, permission: str) -> Actor:
    """Return the person as `human`, if their account has the permission.

    Raises:
        Forbidden: it has not; it may look, not act.
    """
    if not request.auth.has_perm(permission):
        raise Forbidden(_("Your account may look, not act; ask an administrator."))
    return Actor.human(request.auth.get_username())


@router.get("/backends", response=list[BackendOut], tags=["sessions"])
def list_backends(request: SignedInRequest) -> list[Session]:
    """List the sessions that agents work under, in board order."""
    return session_selectors.agent_sessions()


@router.get("/health", response=HealthOut, tags=["sessions"])
def read_health(request: SignedInRequest) -> Health:
    """Tell who is alive, and what waits for those who are not."""
    return session_selectors.health()


@router.get("/messages", response=list[QuestionLineOut], tags=["messages"])
def list_messages(request: SignedInRequest, filters: Query[HistoryFilters]) -> list[Question]:
    """List questions that match every filter given, newest first."""
    for field in ("from_session", "to_session"):
        key = getattr(filters, field)
        if key and not session_selectors.is_known(key):
            raise message_services.unknown_session(field, key)
    return message_selectors.history(**filters.dict())


@router.post("/messages", response={201: ThreadOut}, tags=["messages"])
def ask(request: SignedInRequest, payload: QuestionIn) -> Status[Thread]:
    """Ask one session, or everyone, as `human`."""
    actor = acting(request, "coordination.add_message")
    if payload.to is None:
        question = message_services.broadcast(
            actor=actor, subject=payload.subject, body=payload.body
        )
    else:
        question = message_services.ask(
            actor=actor, to=payload.to, subject=payload.subject, body=payload.body
        )
    return Status(201, message_selectors.thread(message_id=question.pk))


@router.get("/messages/{message_id}", response=ThreadOut, tags=["messages"])
def read_thread(request: SignedInRequest, message_id: Id) -> Thread:
    """Return the thread of a question, or of one of its answers."""
    return message_selectors.thread(message_id=message_id)


@router.post("/messages/{message_id}/answers", response={201: ThreadOut}, tags=["messages"])
def answer(request: SignedInRequest, message_id: Id, payload: AnswerIn) -> Status[Thread]:
    """Answer a question as `human`."""
    actor = acting(request, "coordination.add_message")
    message_services.answer(actor=actor, message_id=message_id, body=payload.body)
    return Status(201, message_selectors.thread(message_id=message_id))


@router.post("/messages/{message_id}/close", response=ThreadOut, tags=["messages"])
def close(request: SignedInRequest, message_id: Id) -> Thread:
    """Close a question; closing it again changes nothing."""
    actor = acting(request, "coordination.change_message")
    message_services.close(actor=actor, message_id=message_id)
    return message_selectors.thread(message_id=message_id)
