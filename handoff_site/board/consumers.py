"""The board's socket: it says what changed, and the page fetches that."""

import asyncio
import contextlib
import datetime as dt
import json
from typing import Any
from urllib.parse import parse_qs

from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest
from django.utils import timezone

from coordination.feed import LATE_SECONDS
from coordination.selectors.events import events_after
from handoff_site.board.fragments import fragments_of
from handoff_site.board.hub import hub
from plans.services.steps import expire_leases

NOT_SIGNED_IN = 4401
"""Close code of a socket whose person is not, or no longer, signed in."""

REPLAYED = 500
"""Missed events replayed after a reconnect; past that the page is drawn again whole."""

OVERLAP = 100
"""Ids read again before the page's last one: some commit late, and drawing twice is harmless."""

TICK_SECONDS = 20.0
"""Between two signs of life; the page counts a longer silence as a broken connection.

So long may a socket outlive its person's rights. It names parts only, which are then refused.
"""


class BoardConsumer(AsyncWebsocketConsumer):
    """One page's socket. What it receives is ignored: pages act through HTTP."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one connection; leave the feed however it ends, by an error as well."""
        self.channel_name = ""
        self.ticking: asyncio.Task[None] | None = None
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self.ticking:
                self.ticking.cancel()
            hub().leave(self.channel_name)

    async def connect(self) -> None:
        """Accept a signed-in person, resume from the page's last event, follow the feed."""
        if not await self._is_signed_in():
            await self.close(NOT_SIGNED_IN)
            return
        await self.accept()
        self.sequence = await hub().join(self.channel_name)
        await self._replay()
        self.ticking = asyncio.create_task(self._tick())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Ignore whatever a page or a stranger sends."""

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
        if not await self._is_signed_in():
            await self.close(NOT_SIGNED_IN)

    async def _replay(self) -> None:
        query = parse_qs(self.scope.get("query_string", b"").decode("ascii", "replace"))
        last = query.get("last", [""])[0]
        if not last.isdecimal() or len(last) > 18:
            await self._send(refresh=True)
            return
        page_has = int(last)
        read = await sync_to_async(events_after)(
            max(0, page_has - OVERLAP), limit=REPLAYED + OVERLAP
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
                if not await self._is_signed_in():
                    await self.close(NOT_SIGNED_IN)
                    return
                await sync_to_async(expire_leases)()  # a dead runner's step shows as such
                await self._send()

    @sync_to_async
    def _is_signed_in(self) -> bool:
        """Read the session anew: signing out elsewhere ends this socket too."""
        request = HttpRequest()
        key = self.scope["cookies"].get(settings.SESSION_COOKIE_NAME)
        request.session = SessionStore(session_key=key)
        user = get_user(request)
        return user.is_authenticated and user.is_active

    async def _send(self, **content: Any) -> None:
        await self.send(json.dumps(content))
