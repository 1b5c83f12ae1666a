"""The one who sends: reads the event feed, writes down what to tell, hands it over.

It looks once a second, at one range of a primary key: people's telephones need no wake-up within
milliseconds, and agents, who only append events, never wait for it.
"""

import contextlib
import datetime as dt
import logging
import threading
import time
from collections.abc import Iterator

from django.conf import settings
from django.db import Error, connection, transaction
from django.utils import timezone

from coordination.errors import DomainError
from coordination.feed import LATE_SECONDS
from coordination.models import Event
from coordination.selectors.events import events_after, last_event_id
from notifications import sending
from notifications.models import Occasion
from notifications.quiet import quiet_until
from notifications.sealing import unseal
from notifications.selectors.deliveries import Due, due
from notifications.selectors.notices import Notice, notice, occasion_of, overdue
from notifications.selectors.targets import Listener, listeners
from notifications.services import deliveries, duty

logger = logging.getLogger(__name__)

TURN_SECONDS = 1.0
SENT_PER_TURN = 20
UNREAD_MAX = 1000
"""Events left unread while nobody wants to be told of any: fewer writes for nothing."""
PRUNE_SECONDS = 3600
STOP_SECONDS = 2.0
"""How long a stop waits for a message in hand; its notification is then sent again later."""


class Worker(threading.Thread):
    """Send notifications for as long as this process has the duty."""

    def __init__(self, *, site: str) -> None:
        super().__init__(name="notifications", daemon=True)
        self.site = site.rstrip("/")
        self.holder = duty.new_holder()
        self.stopping = threading.Event()
        self.held_until = 0.0  # monotonic; the lease itself lasts longer
        self.prune_at = 0.0
        self.read_ahead: set[int] = set()  # events past the cursor that were read already

    def run(self) -> None:
        """Take turns until `stop`; whatever fails is tried again at the next one."""
        while not self.stopping.is_set():
            try:
                self.turn()
            except Error as error:
                logger.warning("notifications: %s; trying again", str(error).split("\n")[0])
                connection.close()
            except Exception:
                logger.exception("notifications: this turn failed")
            self.stopping.wait(TURN_SECONDS)
        with contextlib.suppress(Error):
            duty.release(holder=self.holder)
        connection.close()

    def stop(self) -> None:
        """End after the message in hand."""
        self.stopping.set()

    def turn(self) -> None:
        """Do what there is to do now, if the duty is ours."""
        if not self._on_duty():
            return
        last = last_event_id()  # before the targets: what comes after concerns new ones too
        wanting = listeners()
        self._listen(wanting, last)
        self._look_for_overdue(wanting)
        for one in due(limit=SENT_PER_TURN):
            if self.stopping.is_set() or not self._deliver(one):
                break
        if time.monotonic() > self.prune_at:
            deliveries.prune()
            self.prune_at = time.monotonic() + PRUNE_SECONDS

    def _on_duty(self) -> bool:
        """Renew the lease in time, not each second: every write wakes the boards' tails."""
        now = time.monotonic()
        if now < self.held_until:
            return True
        held = duty.take(holder=self.holder)
        self.held_until = now + settings.LEASE_SECONDS / 3 if held else 0.0
        return held

    def _listen(self, wanting: list[Listener], last: int) -> None:
        """Write down what new events are occasions for, and how far they were read, together."""
        cursor = duty.cursor()
        if not wanting:
            if last - cursor >= UNREAD_MAX:
                self._note([], last)
            return
        found = events_after(cursor)
        fresh = [event for event in found if event.pk not in self.read_ahead]
        told = [(one, event) for event in fresh for one in wanting]
        reached = settled_up_to(cursor, found, timezone.now())
        if not fresh and reached == cursor:
            return
        if self._note(told, reached):
            self.read_ahead |= {event.pk for event in fresh}
            self.read_ahead = {pk for pk in self.read_ahead if pk > reached}

    def _note(self, told: list[tuple[Listener, Event]], reached: int) -> bool:
        with transaction.atomic():
            if not duty.advance(holder=self.holder, to=reached):
                self.held_until = 0.0
                return False
            for listener, event in told:
                occasion = occasion_of(event)
                if occasion and listener.wants(*occasion, event.at):
                    deliveries.enqueue(
                        target_id=listener.id,
                        occasion=occasion[0],
                        subject=event.subject,
                        event=event.pk,
                    )
        return True

    def _look_for_overdue(self, wanting: list[Listener]) -> None:
        """Write down the questions that have waited too long: no event says so."""
        for listener in wanting:
            if Occasion.STALE not in listener.occasions:
                continue
            for message_id, absence in overdue(listener=listener, now=timezone.now()):
                with transaction.atomic():
                    if not duty.keep(holder=self.holder):
                        self.held_until = 0.0
                        return
                    deliveries.enqueue(
                        target_id=listener.id,
                        occasion=Occasion.STALE,
                        subject=f"message:{message_id}",
                        event=absence,
                    )

    def _deliver(self, one: Due) -> bool:
        """Send one, put it off or drop it; False when the duty was lost."""
        if until := quiet_until(one.quiet_from, one.quiet_to, timezone.now()):
            deliveries.postpone(target_id=one.target_id, until=until)
            return True
        words = notice(occasion=one.occasion, subject=one.subject)
        if words is None:
            deliveries.drop(due=one)
            return True
        sending.load()  # it may take longer than a short lease: before the claim
        if not deliveries.claim(due=one, holder=self.holder):
            return duty.keep(holder=self.holder)  # put off meanwhile, or not ours any more
        try:
            sending.send(unseal(one.sealed_url), title=words.title, body=self._body(one, words))
        except DomainError as error:
            logger.warning("notification %s not sent: %s", one.id, error.message)
            deliveries.not_sent(due=one, reason=error.message)
        else:
            deliveries.sent(due=one)
        return True

    def _body(self, one: Due, words: Notice) -> str:
        written = words.body if one.with_bodies else ""
        return "\n\n".join(filter(None, (words.text, written, f"{self.site}/#{words.anchor}")))


def settled_up_to(cursor: int, found: list[Event], now: dt.datetime) -> int:
    """Return the last event before which none can appear any more.

    An id that is skipped may be of a transaction that began earlier and commits later; the next
    event's age tells when that is over.
    """
    for event in found:
        if event.pk != cursor + 1 and (now - event.at).total_seconds() < LATE_SECONDS:
            break
        cursor = event.pk
    return cursor


@contextlib.contextmanager
def beside(*, site: str) -> Iterator[None]:
    """Send notifications while the body runs, where HANDOFF_NOTIFY says that this process does."""
    if settings.NOTIFY != "web":
        yield
        return
    worker = Worker(site=settings.PUBLIC_URL or site)
    worker.start()
    try:
        yield
    finally:
        worker.stop()
        worker.join(STOP_SECONDS)
