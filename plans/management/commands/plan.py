"""Take plans in and out as Markdown files: `manage.py plan import FILE`, `plan export ID`."""

import getpass
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from coordination.actors import Actor
from coordination.errors import DomainError
from plans.portable.export import export_plan
from plans.services.copies import import_plan

BYTES_MAX = 10_000_000
"""More is no plan."""


class Command(BaseCommand):
    """What is exported is imported the same, every step pending."""

    help = "Export a plan as Markdown, or make a plan of such a file."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what to do, the file and the plan."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        taken = verbs.add_parser("import", help="make a plan of a file")
        taken.add_argument("file", help="the file, or - for the standard input")
        taken.add_argument("--project", default="", help="the session whose plan it is")
        given = verbs.add_parser("export", help="write a plan to a file")
        given.add_argument("id", type=int, help="the plan's number")
        given.add_argument("file", nargs="?", help="the file; the standard output without one")
        given.add_argument("--force", action="store_true", help="write over a file that is there")

    def handle(self, *_args: Any, verb: str, **options: Any) -> None:
        """Do it, or say why not."""
        try:
            if verb == "import":
                self._import(options["file"], options["project"])
            else:
                self._export(options["id"], options["file"], force=options["force"])
        except DomainError as error:
            raise CommandError(error.message) from None
        except UnicodeDecodeError as error:
            line = bytes(error.object[: error.start]).count(b"\n") + 1
            raise CommandError(_("line {line}: this is not UTF-8.").format(line=line)) from None
        except FileExistsError as error:
            raise CommandError(
                _("{path} is there already; --force writes over it.").format(path=error.filename)
            ) from None
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from None

    def _import(self, file: str, project: str) -> None:
        with sys.stdin.buffer if file == "-" else Path(file).open("rb") as source:
            content = source.read(BYTES_MAX + 1)
        if len(content) > BYTES_MAX:
            raise CommandError(_("{path} is too large for a plan.").format(path=file))
        actor = Actor.human(getpass.getuser())
        plan = import_plan(actor=actor, text=content.decode(), project=project)
        self.stdout.write(
            _("Plan #{id} added to {project}: {title}").format(
                id=plan.pk, project=plan.project_id, title=plan.title
            )
        )

    def _export(self, plan_id: int, file: str | None, *, force: bool) -> None:
        content = export_plan(plan_id=plan_id)
        if file is None:
            self.stdout.write(content, ending="")
            return
        # Bytes: no system may change the line endings.
        with Path(file).open("wb" if force else "xb") as target:
            target.write(content.encode())
        self.stdout.write(_("Plan #{id} written to {path}").format(id=plan_id, path=file))
