"""How many requests one token may send: a bucket that refills steadily."""

import time
from collections.abc import Callable
from dataclasses import dataclass

PER_SECOND = 20.0
"""Requests that a token may keep up: many times what an agent sends."""
BURST = 100
"""Requests that may come at once after a silence."""
KEPT = 1000
"""Buckets remembered; past that, those that are full again are forgotten."""


@dataclass(slots=True)
class Bucket:
    """What is left, and when that was true."""

    left: float
    at: float


class Pace:
    """Admit the requests of each token up to a rate."""

    def __init__(
        self,
        per_second: float = PER_SECOND,
        burst: int = BURST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._buckets: dict[int, Bucket] = {}

    def admit(self, token_id: int) -> float:
        """Count a request; return 0 when it is admitted, else the seconds until one would be."""
        now = self._clock()
        bucket = self._buckets.get(token_id)
        if bucket is None:
            self._forget(now)
            bucket = self._buckets[token_id] = Bucket(self._burst, now)
        bucket.left, bucket.at = self._level(bucket, now), now
        if bucket.left < 1:
            return (1 - bucket.left) / self._per_second
        bucket.left -= 1
        return 0

    def _level(self, bucket: Bucket, now: float) -> float:
        return min(self._burst, bucket.left + (now - bucket.at) * self._per_second)

    def _forget(self, now: float) -> None:
        if len(self._buckets) >= KEPT:
            self._buckets = {
                token_id: bucket
                for token_id, bucket in self._buckets.items()
                if self._level(bucket, now) < self._burst
            }
