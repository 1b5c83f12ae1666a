"""Share one event tail among the sockets of this process, through its channel layer."""

import asyncio
import contextlib
import logging
from collections import deque
from dataclasses import dataclass
from functools import cache

from channels.exceptions import ChannelFull
from channels.layers import get_channel_layer
from redis.exceptions import RedisError

from coordination.feed import Tail
from coordination.models import Event
from handoff_site.board.fragments import fragments_of

KEPT = 2000
"""Changes a slow socket may lag behind before it is told to draw the whole page again."""

READY_SECONDS = 5.0
"""How long a first socket waits for the tail to begin, on a database that does not answer."""

WAKE_SECONDS = 2.0
"""How long waking all sockets may take, on a Redis that does not answer."""

logger = logging.getLogger("handoff")


@dataclass(frozen=True, slots=True)
class Change:
    """One event as a browser hears of it: what to fetch again, and from where to resume."""

    sequence: int
    event_id: int
    fragments: tuple[str, ...]


class Hub:
    """Wake this process's sockets; each then takes what it has not sent yet, at its own pace.

    A wake-up says only that there is something new, so one that a full channel drops is made
    good by the next: the channel was full of wake-ups. One that Redis did not take is made good
    by `board.layer`. Who is to be woken is known here alone, not in a group of the channel
    layer: a Redis that restarts forgets its groups.
    """

    def __init__(self) -> None:
        self.channels: set[str] = set()
        self.changes: deque[Change] = deque(maxlen=KEPT)
        self.sequence = 0
        self.tail: Tail | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    async def join(self, channel: str) -> int:
        """Wake `channel` from now on; return the sequence to read from."""
        if self.tail is None:
            self.loop = asyncio.get_running_loop()
            self.tail = self._start(self.loop)
        # Events committed before the tail began are in nobody's changes: let it begin first.
        await asyncio.to_thread(self.tail.ready.wait, READY_SECONDS)
        self.channels.add(channel)
        return self.sequence

    def leave(self, channel: str) -> None:
        """Stop waking `channel`."""
        self.channels.discard(channel)

    def signed_out(self) -> None:
        """Have every socket look whether it was its person who just signed out."""
        loop = self.loop
        if loop:
            loop.call_soon_threadsafe(lambda: loop.create_task(self._wake_all("person.left")))

    def after(self, sequence: int) -> list[Change] | None:
        """Return the changes past `sequence`; None when they are no longer all kept."""
        if self.changes and self.changes[0].sequence > sequence + 1:
            return None
        missing = self.sequence - sequence
        return list(self.changes)[-missing:] if missing else []

    def _start(self, loop: asyncio.AbstractEventLoop) -> Tail:
        def deliver(events: list[Event]) -> None:
            loop.call_soon_threadsafe(lambda: loop.create_task(self._publish(events)))

        tail = Tail(deliver)
        tail.start()
        return tail

    async def _publish(self, events: list[Event]) -> None:
        for event in events:
            self.sequence += 1
            self.changes.append(Change(self.sequence, event.pk, fragments_of(event)))
        await self._wake_all("feed.advanced")

    async def _wake_all(self, reason: str) -> None:
        try:
            async with asyncio.timeout(WAKE_SECONDS):
                await asyncio.gather(*(self._wake(channel, reason) for channel in self.channels))
        except (RedisError, OSError) as error:
            logger.warning("Redis is away (%s): the boards look by themselves", error)

    async def _wake(self, channel: str, reason: str) -> None:
        with contextlib.suppress(ChannelFull):
            await get_channel_layer().send(channel, {"type": reason})


@cache
def hub() -> Hub:
    """Return this process's hub."""
    return Hub()
