"""Show the product alive: `manage.py demo`."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from coordination.errors import DomainError
from plans.services.demo import create_demo


class Command(BaseCommand):
    """Fill a database that has no plans."""

    help = "Add three sessions, plans in several states and a few threads to an empty database."

    def handle(self, *args: Any, **options: Any) -> None:
        """Fill it, or say why not."""
        try:
            create_demo()
        except DomainError as error:
            raise CommandError(error.message) from None
        self.stdout.write(_("The demo is in place: open the board."))
