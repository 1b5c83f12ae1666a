"""Delete what is past its age, at the start and once a day while the site is served."""

import logging
import threading

from django.contrib.sessions.backends.db import SessionStore
from django.db import Error, connection

from coordination.services.events import prune

logger = logging.getLogger("handoff")

DAY = 24 * 3600.0
HOUR = 3600.0


def prune_now() -> bool:
    """Delete old events and ended sign-ins; False, and a line in the log, when it failed.

    A database that is busy or away must not keep the site from starting: there is a next time.
    """
    try:
        pruned = prune()
        SessionStore.clear_expired()
    except Error as error:
        logger.warning("old events stay for now: %s", str(error).split("\n")[0])
        return False
    if pruned:
        logger.info("%d old events deleted", pruned)
    return True


class Pruner(threading.Thread):
    """Prune every day. Several web processes may: what one deleted, the others do not find."""

    def __init__(self, *, every: float = DAY, again: float = HOUR) -> None:
        super().__init__(name="pruner", daemon=True)
        self.every = every
        self.again = again
        self.stopping = threading.Event()

    def run(self) -> None:
        """Wait, prune, and so on until `stop`; after a failure, sooner."""
        pause = self.every
        while not self.stopping.wait(pause):
            pause = self.every if prune_now() else self.again
            connection.close()

    def stop(self) -> None:
        """End the thread, at once unless it is pruning."""
        self.stopping.set()
