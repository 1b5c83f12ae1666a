"""Send notifications from a process of their own."""

import signal
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.utils.translation import gettext as _

from notifications.services import duty
from notifications.worker import Worker


class Command(BaseCommand):
    """Take the duty of sending when it is free, and keep it until stopped."""

    help = "Send notifications. With HANDOFF_NOTIFY=apart the web process leaves it to this one."

    def handle(self, **_options: Any) -> None:
        """Refuse early and clearly, then send until SIGINT or SIGTERM."""
        if settings.NOTIFY == "off":
            raise CommandError(_("HANDOFF_NOTIFY is off: set it to apart, or to web."))
        try:
            busy = duty.is_held()
        except DatabaseError as error:
            raise CommandError(
                _("The database is not ready ({reason}); run: manage.py migrate").format(
                    reason=" ".join(str(error).split())
                )
            ) from error
        worker = Worker(site=settings.PUBLIC_URL or f"http://{settings.HOST}:{settings.PORT}")

        def stop(_number: int, _frame: FrameType | None) -> None:
            worker.stop()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        waiting = _("Another process sends notifications; this one waits for its turn.")
        self.stdout.write(waiting if busy else _("Sending notifications (Ctrl-C stops it)."))
        self.stdout.flush()
        worker.run()
        self.stdout.write(_("Stopped."))
