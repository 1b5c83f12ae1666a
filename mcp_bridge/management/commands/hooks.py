"""Give a project's Claude Code this server and its hooks: `manage.py hooks install DIR`."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.utils import Error
from django.utils.translation import gettext as _

from coordination.errors import DomainError
from mcp_bridge.client import existing_folder
from mcp_bridge.hooks.install import Change, installation, removal, write
from mcp_bridge.readiness import explained


class Command(BaseCommand):
    """Merges into `.mcp.json` and `.claude/settings.json`; what is not ours stays as it is."""

    help = "Give a project's Claude Code this server and its hooks, or take them away."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what to do, the project's folder and the session."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        install = verbs.add_parser("install", help="add the server and the hooks")
        install.add_argument("folder", metavar="DIR", help="the project's folder")
        install.add_argument("--session", required=True, help="the session's key")
        uninstall = verbs.add_parser("uninstall", help="take the server and the hooks away")
        uninstall.add_argument("folder", metavar="DIR", help="the project's folder")
        for verb in (install, uninstall):
            verb.add_argument("--dry-run", action="store_true", help="only show what would change")

    def handle(self, *_args: Any, verb: str, folder: str, dry_run: bool, **options: Any) -> None:
        """Show or make the changes."""
        try:
            place = existing_folder(folder)
            changes = (
                installation(place, options["session"]) if verb == "install" else removal(place)
            )
            if dry_run:
                self._show(changes)
                return
            write(changes)
        except Error as error:
            raise CommandError(explained(error).message) from error
        except DomainError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(
                _("{path} cannot be read or written: {reason}.").format(
                    path=error.filename, reason=error.strerror
                )
            ) from error
        self._report(changes, place if verb == "install" else None)

    def _show(self, changes: list[Change]) -> None:
        for change in changes:
            self.stdout.write(change.diff() if change.needed else self._unchanged(change))
        self.stdout.write(_("Dry run: nothing was changed."))

    def _report(self, changes: list[Change], installed: Path | None) -> None:
        for change in changes:
            if not change.needed:
                self.stdout.write(self._unchanged(change))
            elif change.after is None:
                self.stdout.write(
                    _("{path}: removed, nothing else was in it").format(path=change.path)
                )
            else:
                self.stdout.write(_("{path}: written").format(path=change.path))
        if installed:
            self.stdout.write(
                _("Start Claude Code again in {folder}, and accept the handoff server.").format(
                    folder=installed
                )
            )
            if any("DATABASE_URL" in (change.after or "") for change in changes):
                self.stdout.write(
                    _(".mcp.json holds the database's password: keep it out of version control.")
                )

    def _unchanged(self, change: Change) -> str:
        return _("{path}: nothing to change").format(path=change.path)
