"""Draw the parts of the board: each in one place, for the page and live alike."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

from asgiref.sync import sync_to_async
from django.core.cache import cache
from django.template.loader import render_to_string
from django.utils import translation

from coordination.errors import NotFound
from coordination.selectors.events import last_event_id
from handoff_site.board import content
from handoff_site.board.content import Person
from handoff_site.board.hub import hub
from mcp_bridge.crossing import Result, with_connection

DRAWN_MAX = 100
"""Parts drawn for one request; a page asks again for the others."""
SHARED_SECONDS = 5

# A thread and a connection of the boards' own: agents who wait for their turn to write, in the
# process's other one, hold up no reading.
_cross = sync_to_async(
    with_connection,
    thread_sensitive=False,
    executor=ThreadPoolExecutor(1, thread_name_prefix="board"),
)


async def in_board_thread(work: Callable[[], Result]) -> Result:
    """Read from the database for a board."""
    return await _cross(work)


Drawn = tuple[str, dict[str, Any]]
_WHOLE: dict[str, Callable[[Person], Drawn]] = {
    "board": lambda person: ("board/_desk.html", content.desk(person)),
    "for-you": lambda person: ("board/_for_you.html", content.for_you(person)),
    "questions": lambda _person: ("board/_questions.html", content.questions()),
    "activity": lambda _person: ("board/_activity.html", content.activity()),
}
_OF_SESSION: dict[str, Callable[[Person, str], Drawn]] = {
    "presence": lambda _person, key: ("board/_presence.html", content.presence(key)),
    "column": lambda person, key: ("board/_column.html", content.column(person, key)),
}
_OF_ROW: dict[str, Callable[[Person, int], Drawn]] = {
    "thread": lambda _person, pk: ("board/_thread.html", content.thread(pk)),
    "plan": lambda person, pk: ("board/_plan.html", content.plan(person, pk)),
    "steps": lambda person, pk: ("board/_steps.html", content.steps(person, pk)),
    "step": lambda person, pk: ("board/_step.html", content.task(person, pk)),
    "task": lambda person, pk: ("board/_task.html", content.task(person, pk)),
}
ID_DIGITS = 18
"""Longer numbers are nobody's id, and no database takes them."""


class Asked(NamedTuple):
    """What tells a drawing from another."""

    language: str
    rights: str
    names: tuple[str, ...]


def draw(person: Person, names: Sequence[str]) -> str:
    """Return the parts named, as HTML that each replace their former self; one gone is left out."""
    # Both counters: events that this process has told of, and those it is about to tell of.
    state = (hub().sequence, last_event_id(), translation.get_language(), content.rights(person))
    return "\n".join(_drawn(person, name, state) for name in names[:DRAWN_MAX])


def _drawn(person: Person, name: str, state: tuple[object, ...]) -> str:
    """Return a part, drawn once for all the people who see the same.

    Twenty boards ask for the same part at the same moment. It lives for seconds, since presence
    grows old without an event.
    """
    key = hashlib.sha256(repr((name, state)).encode()).hexdigest()
    html: str | None = cache.get(key)
    if html is None:
        try:
            template, context = _content(person, name)
        except NotFound:
            return ""
        html = render_to_string(template, context | {"oob": True})
        cache.set(key, html, SHARED_SECONDS)
    return html


def _content(person: Person, name: str) -> Drawn:
    """Return the template of a part and what it shows.

    Raises:
        NotFound: there is no such part.
    """
    kind, _dash, key = name.partition("-")
    if name in _WHOLE:
        return _WHOLE[name](person)
    if kind in _OF_SESSION:
        return _OF_SESSION[kind](person, key)
    if kind in _OF_ROW and key.isdecimal() and len(key) <= ID_DIGITS:
        return _OF_ROW[kind](person, int(key))
    raise NotFound(name)


class Drawings:
    """Draw once for all the sockets that ask for the same while a drawing is under way.

    None of them gets what was begun before it asked: that may lack what it asks because of.
    """

    def __init__(self) -> None:
        self._asked: dict[Asked, tuple[Person, asyncio.Future[str]]] = {}
        self._drawing: asyncio.Task[None] | None = None

    async def draw(self, person: Person, names: Sequence[str], language: str) -> str:
        """Return the parts named; the person's rights must have been read."""
        asked = Asked(language, repr(content.rights(person)), tuple(names))
        if asked not in self._asked:
            self._asked[asked] = (person, asyncio.get_running_loop().create_future())
        if self._drawing is None:
            self._drawing = asyncio.create_task(self._draw_all())
        return await asyncio.shield(self._asked[asked][1])

    async def _draw_all(self) -> None:
        while self._asked:
            batch, self._asked = self._asked, {}
            for asked, (person, drawn) in batch.items():
                try:
                    drawn.set_result(await in_board_thread(partial(_draw_in, asked, person)))
                except Exception as error:
                    drawn.set_exception(error)
        self._drawing = None


def _draw_in(asked: Asked, person: Person) -> str:
    with translation.override(asked.language):
        return draw(person, asked.names)


drawings = Drawings()
