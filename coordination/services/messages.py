"""Ask, broadcast, answer, close."""

from django.db import transaction
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination import events
from coordination.actors import Actor
from coordination.errors import Conflict, Invalid, NotFound
from coordination.models import Message, MessageStatus, Session
from coordination.selectors.sessions import is_known
from coordination.text import checked_line, checked_text, fold, require


def ask(*, actor: Actor, to: str, subject: str, body: str) -> Message:
    """Open a question to one other participant.

    Raises:
        MissingFields, Invalid: a blank, over-long or unknown value, or oneself as addressee.
    """
    require(to=to, subject=subject, body=body)
    if to == actor.session:
        raise Invalid(
            "to",
            _("to: {session} cannot ask itself; choose another session.").format(session=to),
        )
    if not is_known(to):
        raise unknown_session("to", to)
    return _open_question(actor=actor, to=to, subject=subject, body=body)


def broadcast(*, actor: Actor, subject: str, body: str) -> Message:
    """Open a question to everyone. One answer marks it answered; more may follow."""
    require(subject=subject, body=body)
    return _open_question(actor=actor, to=None, subject=subject, body=body)


def answer(*, actor: Actor, message_id: int, body: str) -> Message:
    """Store an answer and mark its question answered, together or not at all.

    Raises:
        NotFound: no such message. Conflict: it is an answer, or a closed question.
    """
    require(message_id=message_id, body=body)
    body = checked_text("body", body)
    now = timezone.now()
    with transaction.atomic():
        changed = Message.objects.filter(
            pk=message_id,
            parent__isnull=True,
            status__in=(MessageStatus.OPEN, MessageStatus.ANSWERED),
        ).update(status=MessageStatus.ANSWERED, resolved_at=now)
        if not changed:
            raise _refusal(message_id)
        reply = Message.objects.create(
            parent_id=message_id,
            from_session_id=actor.session,
            body=body,
            status=MessageStatus.CLOSED,
            created_at=now,
            resolved_at=now,
        )
        _record(actor, events.Verb.ANSWERED, message_id, answer=reply.pk)
    return reply


def close(*, actor: Actor, message_id: int) -> None:
    """Close a question; closing it again is a silent success.

    Raises:
        NotFound: no such message. Conflict: it is an answer.
    """
    require(message_id=message_id)
    with transaction.atomic():
        changed = (
            Message.objects.filter(pk=message_id, parent__isnull=True)
            .exclude(status=MessageStatus.CLOSED)
            .update(
                status=MessageStatus.CLOSED,
                resolved_at=Coalesce("resolved_at", timezone.now()),
            )
        )
        if changed:
            _record(actor, events.Verb.CLOSED, message_id)
        elif not Message.objects.filter(pk=message_id, parent__isnull=True).exists():
            raise _refusal(message_id)


def delete(*, actor: Actor, message_id: int) -> None:
    """Delete a question with its answers, or one answer."""
    with transaction.atomic():
        message = Message.objects.filter(pk=message_id).first()
        if message is None:
            raise no_such_message(message_id)
        message.delete()
        events.append(
            actor=actor,
            verb=events.Verb.DELETED,
            subject=f"message:{message.parent_id or message_id}",
            title=message.subject,
        )


def unknown_session(field: str, key: str) -> Invalid:
    """Return the refusal of a session that does not exist, naming those that do."""
    known = ", ".join(Session.objects.values_list("key", flat=True))
    return Invalid(
        field,
        _("{field}: unknown session {key!r}. Known sessions: {known}.").format(
            field=field, key=key[:60], known=known
        ),
    )


def no_such_message(message_id: int) -> NotFound:
    """Return the refusal of a message that does not exist."""
    return NotFound(
        _("message #{id} does not exist; mf_inbox and mf_history list the ids.").format(
            id=message_id
        )
    )


def _open_question(*, actor: Actor, to: str | None, subject: str, body: str) -> Message:
    subject = checked_line("subject", subject)
    body = checked_text("body", body)
    with transaction.atomic():
        question = Message.objects.create(
            from_session_id=actor.session,
            to_session_id=to,
            subject=subject,
            subject_folded=fold(subject),
            body=body,
            created_at=timezone.now(),
        )
        events.append(
            actor=actor,
            verb=events.Verb.ASKED,
            subject=f"message:{question.pk}",
            title=subject,
            to=to,
        )
    return question


def _record(actor: Actor, verb: events.Verb, message_id: int, **data: object) -> None:
    title = Message.objects.values_list("subject", flat=True).get(pk=message_id)
    events.append(actor=actor, verb=verb, subject=f"message:{message_id}", title=title, **data)


def _refusal(message_id: int) -> Conflict | NotFound:
    """Say why no question was changed."""
    found = Message.objects.filter(pk=message_id).values_list("parent_id").first()
    if found is None:
        return no_such_message(message_id)
    if (parent := found[0]) is not None:
        return Conflict(
            _("#{id} is an answer, not a question; its question is #{parent}.").format(
                id=message_id, parent=parent
            ),
            code="not_a_question",
        )
    return Conflict(
        _("question #{id} is closed; ask a new one with mf_ask.").format(id=message_id),
        code="closed",
    )
