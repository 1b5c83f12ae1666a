"""Say whether the store is sound: `manage.py check_store`."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from coordination.selectors.soundness import Weight
from handoff_site.soundness import check_store


class Command(BaseCommand):
    """Show each finding on a line; exit with 1 if one is a fault."""

    help = "Check the database, its schema and what it holds; exit with 1 on a fault."

    def handle(self, *args: Any, **options: Any) -> None:
        """Look, and say what was found."""
        marks = {Weight.SOUND: "ok", Weight.NOTE: _("note"), Weight.FAULT: _("FAULT")}
        found = check_store()
        for finding in found:
            self.stdout.write(f"{marks[finding.weight]:<6} {finding.sentence}")
        faults = sum(finding.weight is Weight.FAULT for finding in found)
        if faults:
            raise CommandError(_("Faults: {count}.").format(count=faults))
        self.stdout.write(_("The store is sound."))
