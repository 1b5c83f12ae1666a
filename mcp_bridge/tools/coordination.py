"""Questions between sessions: ask, broadcast, inbox, answer, close, history, thread, health."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.actors import Actor
from coordination.models import MessageStatus, Session
from coordination.selectors import messages as read
from coordination.selectors import sessions as presence
from coordination.services import messages as write
from mcp_bridge.tool import Choice, Number, Participant, Text, Tool

PREVIEW = 200
"""Characters of a body that the inbox shows."""
STATUSES = (*MessageStatus.values, "all")


def ask(actor: Actor, *, to: str, subject: str, body: str) -> str:
    """Open a question to one other participant."""
    question = write.ask(actor=actor, to=to, subject=subject, body=body)
    return _(
        "Question created #{id} ({sender} → {to}). The other session will see it at its next "
        "mf_inbox."
    ).format(id=question.pk, sender=actor.session, to=to)


def broadcast(actor: Actor, *, subject: str, body: str) -> str:
    """Open a question to everyone."""
    question = write.broadcast(actor=actor, subject=subject, body=body)
    return _(
        "Question created #{id} ({sender} → everyone). The other sessions will see it at their "
        "next mf_inbox."
    ).format(id=question.pk, sender=actor.session)


def inbox(actor: Actor, *, status: str, limit: int) -> str:
    """List the questions to this session or to everyone, with the start of each body."""
    page = read.inbox(session=actor.session, status=status, limit=limit)
    if not page.items:
        return _("No question ({status}) for {session}.").format(
            status=status, session=actor.session
        )
    lines = [f"{heading(one)}\n   {preview(one.body)}" for one in page.items]
    more = replace(page.total, count=page.total.count - len(page.items))
    if more.count > 0:
        lines.append(_("… and {n} more: raise limit, or answer these first.").format(n=more))
    return "\n".join(lines)


def answer(actor: Actor, *, message_id: int, body: str) -> str:
    """Answer a question."""
    reply = write.answer(actor=actor, message_id=message_id, body=body)
    return _("Answer posted to #{id} (by {session}, message {answer_id}).").format(
        id=message_id, session=actor.session, answer_id=reply.pk
    )


def close(actor: Actor, *, message_id: int) -> str:
    """Close a question."""
    write.close(actor=actor, message_id=message_id)
    return _("Question #{id} closed.").format(id=message_id)


def history(
    _actor: Actor,
    *,
    subject_contains: str,
    from_session: str,
    to_session: str,
    status: str,
    limit: int,
) -> str:
    """Search the questions, newest first."""
    known = {session.key for session in presence.sessions()}
    for field, key in (("from_session", from_session), ("to_session", to_session)):
        if key and key not in known:
            raise write.unknown_session(field, key)
    found = read.history(
        subject_contains=subject_contains.strip(),
        from_session=from_session,
        to_session=to_session,
        status=status,
        limit=limit,
    )
    if not found:
        return _("No question matches.")
    return "\n".join(
        f"#{one.id} [{one.status}] ({route(one)}) {date(one.created_at)} — {one.subject}"
        for one in found
    )


def thread(_actor: Actor, *, message_id: int) -> str:
    """Show a question whole, with its answers."""
    found = read.thread(message_id=message_id)
    blocks = [f"{heading(found.question)}\n{found.question.body}"]
    for one in found.answers:
        title = _("── Answer #{id} by {author} ({date}) ──").format(
            id=one.id, author=one.author, date=date(one.created_at)
        )
        blocks.append(f"{title}\n{one.body}")
    return "\n\n".join(blocks)


def health(_actor: Actor) -> str:
    """Show who is there, and which open questions wait for those who are not."""
    now = timezone.now()
    found = presence.health(now=now)
    lines = []
    for bucket in presence.Bucket:
        members = [row for row in found.sessions if row.bucket == bucket]
        lines.append(f"{bucket.value} ({found.summary[bucket.value]})")
        lines += [f"   {row.key} — {age(row.age)}" for row in members]
    if found.waiting:
        lines.append(_("Open questions to stale sessions ({n}):").format(n=found.waiting_total))
        lines += [
            f"   #{one.id} {one.from_session} → {one.to_session} — {one.subject} "
            f"({date(one.created_at)})"
            for one in found.waiting
        ]
    else:
        lines.append(_("No open question to a stale session."))
    return "\n".join(lines)


def heading(question: read.Question) -> str:
    """Return a question's line, as the inbox and the thread show it."""
    return (
        f"#{question.id} [{question.status}] {route(question)} — {question.subject} "
        f"({date(question.created_at)})"
    )


def route(question: read.Question) -> str:
    """Return from whom to whom."""
    everyone = _("everyone")
    return f"{question.from_session} → {question.to_session or everyone}"


def preview(body: str) -> str:
    """Return the start of a body on one line, `…` when it is cut."""
    start = " ".join(body[:PREVIEW].split())
    return f"{start}…" if len(body) > PREVIEW else start


def date(moment: dt.datetime) -> str:
    """Return a moment as people here read it."""
    return timezone.localtime(moment).strftime("%Y-%m-%d %H:%M")


def age(seconds: int | None) -> str:
    """Return an age in words."""
    if seconds is None:
        return _("never seen")
    for size, words in (
        (86400, _("{n} d ago")),
        (3600, _("{n} h ago")),
        (60, _("{n} min ago")),
        (1, _("{n} s ago")),
    ):
        if seconds >= size:
            return words.format(n=seconds // size)
    return _("just now")


def described(sessions: Sequence[Session]) -> str:
    """Say who the participants are, where they are described."""
    return "; ".join(f"{one.key}: {one.description}" for one in sessions if one.description)


def message_id(_sessions: Sequence[Session]) -> str:
    """Say what a message id is."""
    return "#id"


TOOLS = (
    Tool(
        name="mf_ask",
        description=lambda: _("Ask another session, or human, a question."),
        handler=ask,
        parameters=(
            Participant(name="to", description=described),
            Text(name="subject", description=lambda _sessions: _("one line")),
            Text(name="body", description=lambda _sessions: "Markdown"),
        ),
        recalls_inbox=True,
    ),
    Tool(
        name="mf_broadcast",
        description=lambda: _("Ask everyone a question; several may answer."),
        handler=broadcast,
        parameters=(Text(name="subject"), Text(name="body")),
    ),
    Tool(
        name="mf_inbox",
        description=lambda: _(
            "List the questions to you or to everyone, oldest open first. Call it at the start "
            "of each turn."
        ),
        handler=inbox,
        parameters=(
            Choice(
                name="status", values=STATUSES, required=False, default=MessageStatus.OPEN.value
            ),
            Number(name="limit", low=1, high=200, required=False, default=50),
        ),
        reads_only=True,
    ),
    Tool(
        name="mf_answer",
        description=lambda: _("Answer a question; it becomes answered."),
        handler=answer,
        parameters=(Number(name="message_id", description=message_id), Text(name="body")),
        recalls_inbox=True,
    ),
    Tool(
        name="mf_close",
        description=lambda: _("Close a question that is settled or no longer matters."),
        handler=close,
        parameters=(Number(name="message_id"),),
        idempotent=True,
    ),
    Tool(
        name="mf_history",
        description=lambda: _("Search past questions, newest first, without bodies."),
        handler=history,
        parameters=(
            Text(name="subject_contains", required=False),
            Participant(name="from_session", required=False),
            Participant(name="to_session", required=False),
            Choice(name="status", values=STATUSES, required=False, default="all"),
            Number(name="limit", low=1, high=200, required=False, default=20),
        ),
        reads_only=True,
        names_itself=True,
    ),
    Tool(
        name="mf_thread",
        description=lambda: _("Read a question whole with its answers; takes an answer's id too."),
        handler=thread,
        parameters=(Number(name="message_id"),),
        reads_only=True,
    ),
    Tool(
        name="mf_health",
        description=lambda: _("See which sessions are there, and questions left waiting."),
        handler=health,
        reads_only=True,
    ),
)
