"""Take over the original Node server's data: `manage.py import_handoff PATH`."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from coordination.errors import DomainError
from plans.services.imports.store import Report, import_handoff

TABLES = ("sessions", "messages", "plans", "tasks")


class Command(BaseCommand):
    """Import, after a dry run that says what would happen."""

    help = "Import the original server's SQLite file; a dry run goes first. Safe to repeat."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the file's path."""
        parser.add_argument("path", type=Path, help="the file, usually data/handoff.sqlite")
        parser.add_argument("--dry-run", action="store_true", help="only say what would happen")
        parser.add_argument("--skip-bad", action="store_true", help="import the good rows anyway")

    def handle(self, *args: Any, **options: Any) -> None:
        """Show the dry run; import if nothing stands against it."""
        path, skip_bad = options["path"].expanduser(), options["skip_bad"]
        try:
            self._show(import_handoff(path=path, dry_run=True))
            if options["dry_run"]:
                self.stdout.write(_("Dry run: nothing was changed."))
                return
            report = import_handoff(path=path, skip_bad=skip_bad)
        except DomainError as error:
            raise CommandError(error.message) from None
        if not report.stored:
            raise CommandError(
                _(
                    "Nothing was imported: {count} bad row(s). Mend them, or leave them out with "
                    "--skip-bad."
                ).format(count=len(report.faults))
            )
        self.stdout.write(_("Imported."))

    def _show(self, report: Report) -> None:
        for table in TABLES:
            self.stdout.write(
                _(
                    "{table}: {added} to add ({renumbered} under a new id), {known} here already"
                ).format(
                    table=table,
                    added=report.added[table],
                    renumbered=report.renumbered[table],
                    known=report.known[table],
                )
            )
        for note in report.notes:
            self.stdout.write(note)
        for fault in report.faults:
            self.stdout.write(
                _("bad row: {table} {id}: {reason}").format(
                    table=fault.table, id=fault.id, reason=fault.reason
                )
            )
