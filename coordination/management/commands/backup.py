"""Save the database while everybody works: `manage.py backup DEST`."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from coordination.errors import DomainError
from coordination.services.safekeeping.backup import backup

MEGABYTE = 1_000_000


class Command(BaseCommand):
    """Save, or say why not."""

    help = "Save the database to a new file, checked, while agents and people go on working."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the new file's path."""
        parser.add_argument("destination", type=Path, help="the new file; never replaced")

    def handle(self, *args: Any, **options: Any) -> None:
        """Save it and say where it is."""
        try:
            saved = backup(destination=options["destination"].expanduser())
        except DomainError as error:
            raise CommandError(error.message) from None
        self.stdout.write(
            _("Saved and checked: {path} ({size:.1f} MB, {seconds:.1f} s).").format(
                path=saved.path, size=saved.size / MEGABYTE, seconds=saved.seconds
            )
        )
