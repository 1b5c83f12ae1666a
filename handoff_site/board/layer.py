"""The Redis channel layer, for a Redis that may be away."""

import asyncio
import logging
from typing import Any

from channels_redis.core import RedisChannelLayer
from redis.exceptions import RedisError

logger = logging.getLogger("handoff")

RETRY_SECONDS = 0.5
"""Between two looks while Redis is away: how late a board then is, at most."""


class PatientRedisLayer(RedisChannelLayer):
    """Wake a waiting socket by the clock while Redis cannot.

    A wake-up carries nothing: what changed is in the hub of this process, and its sockets look
    there. So a Redis that stops, or forgets everything, costs delay and no event, and no
    socket ends for it.
    """

    async def receive(self, channel: str) -> dict[str, Any]:
        """Return the channel's next message; while Redis is away, a wake-up now and then."""
        try:
            message: dict[str, Any] = await super().receive(channel)
        except (RedisError, OSError) as error:
            logger.debug("no wake-ups from Redis (%s): looking by the clock", error)
            await asyncio.sleep(RETRY_SECONDS)
            return {"type": "feed.advanced"}
        return message
