"""The board's socket: it says what changed, and the page fetches that, through it as well.

A request of its own for each page cost the server five times what drawing did: with twenty boards
open, a change was seen later for it.
"""

import asyncio
import contextlib
import datetime as dt
import json
import logging
import math
import time
from typing import Any
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.db.utils import Error
from django.http import HttpRequest
from django.utils import timezone

from coordination.feed import LATE_SECONDS
from coordination.selectors.events import events_after
from handoff_site.board.content import Person, rights
from handoff_site.board.fragments import fragments_of
from handoff_site.board.hub import hub
from handoff_site.board.parts import DRAWN_MAX, drawings, in_board_thread
from handoff_site.language import chosen_language
from mcp_bridge.crossing import in_database
from plans.services.steps import expire_leases

NOT_SIGNED_IN = 4401
"""Close code of a socket whose person is not, or no longer, signed in."""

REPLAYED = 500
"""Missed events replayed after a reconnect; past that the page is drawn again whole."""

OVERLAP = 100
"""Ids read again before the page's last one: some commit late, and drawing twice is harmless."""

TICK_SECONDS = 20.0
"""Between two signs of life; the page counts a longer silence as a broken connection.

So long may an idle socket outlive its person's rights: it then tells that something changed, not
what.
"""

RIGHTS_SECONDS = 5.0
"""How long what a person may see and do is remembered between two drawings."""

NAME_MAX = 100
"""Characters of a part's name; session keys are shorter."""

logger = logging.getLogger("handoff")


class BoardConsumer(AsyncWebsocketConsumer):
    """One page's socket. All it takes is which parts to draw: pages act through HTTP."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one connection; leave the feed however it ends, by an error as well."""
        self.channel_name = ""
        self.person: Person = AnonymousUser()
        self.person_read_at = -math.inf  # monotonic
        self.ticking: asyncio.Task[None] | None = None
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self.ticking:
                self.ticking.cancel()
            hub().leave(self.channel_name)

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Handle one message; close when the database does not answer: the page comes back."""
        try:
            await super().dispatch(message)
        except Error as error:
            log(error)
            await self.close()

    async def connect(self) -> None:
        """Accept a signed-in person, resume from the page's last event, follow the feed."""
        if not await in_board_thread(self._is_signed_in):
            await self.close(NOT_SIGNED_IN)
            return
        await self.accept()
        self.sequence = await hub().join(self.channel_name)
        await self._replay()
        self.ticking = asyncio.create_task(self._tick())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Draw the parts that a page names; ignore whatever else it or a stranger sends."""
        if names := asked_for(text_data or ""):
            html = await self._draw(names)
            if html is None:
                await self.close(NOT_SIGNED_IN)
            else:
                await self._send(html=html)

    async def feed_advanced(self, _message: dict[str, Any]) -> None:
        """Send what this socket has not sent yet."""
        changes = hub().after(self.sequence)
        self.sequence = hub().sequence
        if changes is None:
            await self._send(refresh=True)
        elif changes:
            names = dict.fromkeys(name for change in changes for name in change.fragments)
            await self._send(last=max(c.event_id for c in changes), fragments=list(names))

    async def person_left(self, _message: dict[str, Any]) -> None:
        """Close at once when the person has signed out; the tick notices every other end."""
        if not await in_board_thread(self._is_signed_in):
            await self.close(NOT_SIGNED_IN)

    async def _replay(self) -> None:
        query = parse_qs(self.scope.get("query_string", b"").decode("ascii", "replace"))
        last = query.get("last", [""])[0]
        if not last.isdecimal() or len(last) > 18:
            await self._send(refresh=True)
            return
        page_has = int(last)
        read = await in_board_thread(
            lambda: events_after(max(0, page_has - OVERLAP), limit=REPLAYED + OVERLAP)
        )
        if len(read) == REPLAYED + OVERLAP:
            await self._send(refresh=True)
            return
        late = timezone.now() - dt.timedelta(seconds=LATE_SECONDS)
        missed = [event for event in read if event.pk > page_has or event.at > late]
        names = dict.fromkeys(name for event in missed for name in fragments_of(event))
        await self._send(
            last=max((event.pk for event in missed), default=page_has), fragments=list(names)
        )

    async def _tick(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            while True:
                await asyncio.sleep(TICK_SECONDS)
                try:
                    if not await in_board_thread(self._is_signed_in):
                        await self.close(NOT_SIGNED_IN)
                        return
                    await in_database(expire_leases)  # a dead runner's step shows as such
                except Error as error:
                    log(error)
                await self._send()

    async def _draw(self, names: list[str]) -> str | None:
        """Return the parts in the person's language; None when they are not signed in any more."""
        recently = time.monotonic() - self.person_read_at < RIGHTS_SECONDS
        if not recently and not await in_board_thread(self._is_signed_in):
            return None
        return await drawings.draw(self.person, names, chosen_language(self.scope["cookies"]))

    def _is_signed_in(self) -> bool:
        """Read the session anew: signing out elsewhere ends this socket too."""
        request = HttpRequest()
        key = self.scope["cookies"].get(settings.SESSION_COOKIE_NAME)
        request.session = SessionStore(session_key=key)
        person = get_user(request)
        if not (person.is_authenticated and person.is_active):
            self.person_read_at = -math.inf
            return False
        rights(person)  # remembered by the person, whom the event loop reads
        self.person, self.person_read_at = person, time.monotonic()
        return True

    async def _send(self, **content: Any) -> None:
        await self.send(json.dumps(content))


def asked_for(text: str) -> list[str]:
    """Return the names of the parts that a page asks for; none when it is no such request."""
    try:
        names = json.loads(text)["draw"]
    except (ValueError, RecursionError, TypeError, KeyError):
        return []
    if not isinstance(names, list):
        return []
    return [name for name in names[:DRAWN_MAX] if isinstance(name, str) and len(name) <= NAME_MAX]


def log(error: Error) -> None:
    """Leave one line: a page that reconnects every few seconds would fill the log with more."""
    logger.warning("board: %s", " ".join(str(error).split()))
