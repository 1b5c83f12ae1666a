"""Put a backup in the database's place: `manage.py restore SRC`."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from coordination.errors import DomainError
from coordination.services.safekeeping.restore import restore


class Command(BaseCommand):
    """Restore, or say why not."""

    help = "Check a backup and make it the database; the former one is kept aside."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the backup's path."""
        parser.add_argument("source", type=Path, help="a file that `backup` made")
        parser.add_argument(
            "--replace", action="store_true", help="even if the present database holds data"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore it and say where the former database is."""
        try:
            done = restore(source=options["source"].expanduser(), replace=options["replace"])
        except DomainError as error:
            raise CommandError(error.message) from None
        self.stdout.write(_("Restored from {path}.").format(path=options["source"]))
        if done.aside:
            self.stdout.write(_("The former database is kept: {path}").format(path=done.aside))
        if done.behind:
            self.stdout.write(
                _("The backup is from an older version: run manage.py migrate, or serve, which "
                  "does.")
            )  # fmt: skip
