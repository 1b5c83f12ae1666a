"""Wait for something to do, instead of asking again and again."""

import time
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import anyio
from django.db import connection
from django.utils.translation import gettext as _

from coordination.actors import Actor
from mcp_bridge.crossing import in_database
from mcp_bridge.desk import Desk, look
from mcp_bridge.glance import Glance
from mcp_bridge.tool import Number, Progress, Tool

LONGEST_SECONDS = 50
"""The most patient client gives up on a call after a minute."""
POLL_SECONDS = 1.0
"""Between two glances at SQLite's files, or two looks at a database that is no file."""
PATIENCE_SECONDS = 5.0
"""Between two looks at a database whose files seem still."""
LATE_IDS = 100
"""How far behind the newest row one may still appear: its transaction began earlier."""
ANSWERS_SHOWN = 10

NEWEST = """
    SELECT (SELECT coalesce(max(id), 0) FROM coordination_event),
           (SELECT coalesce(max(id), 0) FROM coordination_message)
"""
LATEST_QUESTION = """
    SELECT id FROM coordination_message WHERE parent_id IS NULL AND from_session_id = %s
    ORDER BY created_at DESC, id DESC LIMIT 1
"""
FEED = "SELECT count(*), max(id) FROM coordination_event WHERE id > %s"
ANSWERS = """
    SELECT answer.id, answer.parent_id FROM coordination_message AS answer
    JOIN coordination_message AS question ON question.id = answer.parent_id
    WHERE answer.id > %s AND question.from_session_id = %s AND answer.from_session_id <> %s
      AND question.status = 'answered'
    ORDER BY answer.id DESC LIMIT 100
"""
TO_DO = {"pending", "current"}


class View(NamedTuple):
    """What a waiting session sees: its desk, and the latest answers to what it asked."""

    desk: Desk
    answers: dict[int, int]  # the question of each answer

    @property
    def step(self) -> tuple[int, str] | None:
        """Return which step decides, and its status."""
        return self.desk.step and self.desk.step[:2]


class Watch:
    """What one waiting session saw first, and sees now. It lives in the database's thread.

    Of the answers to its questions it tells those of late that it was not `told`: one may have
    come between the question and the wait.
    """

    def __init__(self, session: str, told: Collection[int]) -> None:
        self._session, self._told = session, told
        event, message = query(NEWEST, ())[0]
        latest = query(LATEST_QUESTION, (session,))
        self._event_floor = event - LATE_IDS
        self._message_floor = min(message - LATE_IDS, *(row[0] for row in latest), message)
        self._feed = self._read_feed()
        self._before = self.now = self._view()

    def look(self) -> str:
        """Say what there is to do, or nothing: one query, unless something happened."""
        feed = self._read_feed()
        if feed != self._feed:
            self._feed, self.now = feed, self._view()
        return news(self._before, self.now, self._told)

    def _read_feed(self) -> tuple[Any, ...]:
        feed: tuple[Any, ...] = query(FEED, (self._event_floor,))[0]
        return feed

    def _view(self) -> View:
        desk = look(query, self._session, limit=100)
        answers = query(ANSWERS, (self._message_floor, self._session, self._session))
        return View(desk, dict(answers))


class Waits:
    """The waits under way in this process: each one sleeps, and holds no thread meanwhile."""

    def __init__(self) -> None:
        self._ending = False
        self._told: dict[str, Collection[int]] = {}

    def end(self) -> None:
        """Have every wait answer within a second."""
        self._ending = True

    async def wait(
        self,
        actor: Actor,
        *,
        progress: Progress,
        came: float,
        timeout: int,  # noqa: ASYNC109
    ) -> str:
        """Say what there is to do as soon as there is something, or that there is nothing."""
        glance = Glance(patience=PATIENCE_SECONDS)
        glance.due()
        told = self._told.get(actor.session, ())
        watch = await in_database(lambda: Watch(actor.session, told))
        while not (text := await in_database(watch.look)):
            if self._ending or (waited := time.monotonic() - came) >= timeout:
                return _("Nothing new after {n} s.").format(n=round(time.monotonic() - came))
            await progress(waited, timeout)
            await self._pause(glance, until=came + timeout)
        self._told[actor.session] = watch.now.answers.keys()
        return text

    async def _pause(self, glance: Glance, *, until: float) -> None:
        """Return when a look is due, at `until` at the latest."""
        while not self._ending and (left := until - time.monotonic()) > 0:
            await anyio.sleep(min(POLL_SECONDS, left))
            if glance.due():
                return


def query(sql: str, values: Sequence[Any]) -> list[Any]:
    """Run one statement on Django's connection."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows: list[Any] = cursor.fetchall()
        return rows


def news(before: View, now: View, told: Collection[int]) -> str:
    """Say what there is to do, or nothing."""
    lines = []
    if now.desk.questions:
        count = len(now.desk.questions)
        lines.append(_("{n} open question(s) for you: mf_inbox.").format(n=count))
    answered = {question for answer, question in now.answers.items() if answer not in told}
    for question in sorted(answered)[-ANSWERS_SHOWN:]:
        lines.append(_("Your question #{id} has an answer: mf_thread({id}).").format(id=question))
    if now.step and now.step[1] in TO_DO:
        lines.append(_("A step waits for you: mf_next_step."))
    elif now.step != before.step:
        lines.append(_("Your step has moved: mf_next_step says where it stands."))
    return "\n".join(lines)


def tools(waits: Waits) -> tuple[Tool, ...]:
    """Return the one tool; `waits` ends its calls with the process."""
    return (
        Tool(
            name="mf_wait",
            description=lambda: _("Wait for a question, an answer or your step to move."),
            handler=waits.wait,
            parameters=(
                Number(
                    name="timeout", high=LONGEST_SECONDS, required=False, default=LONGEST_SECONDS
                ),
            ),
            takes_long=True,
            reads_only=True,
        ),
    )
