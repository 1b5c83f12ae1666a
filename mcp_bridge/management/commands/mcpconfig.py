"""Print what an agent's client needs to know to start `runmcp` here."""

import json
import os
import shlex
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.utils import Error

from coordination.errors import DomainError
from mcp_bridge.client import SERVER, entry, existing_folder
from mcp_bridge.readiness import explained


class Command(BaseCommand):
    """Absolute paths only: the client starts the process from a folder of its own."""

    help = "Print the .mcp.json entry and the `claude mcp add` line for one session."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the session and the folder that its validations run in."""
        parser.add_argument("session", help="the session's key")
        parser.add_argument("--cwd", help="the project's folder, where validations run")

    def handle(self, *_args: Any, session: str, cwd: str | None, **_options: Any) -> None:
        """Print both forms."""
        given = cwd or os.environ.get("MCP_PROJECT_CWD", "").strip()
        try:
            server = entry(session, existing_folder(given) if given else None)
        except Error as error:
            raise CommandError(explained(error).message) from error
        except DomainError as error:
            raise CommandError(error.message) from error
        options = [part for pair in server["env"].items() for part in ("--env", "=".join(pair))]
        command = [server["command"], *server["args"]]
        line = shlex.join(["claude", "mcp", "add", SERVER, *options, "--", *command])
        self.stdout.write(
            json.dumps({"mcpServers": {SERVER: server}}, indent=2, ensure_ascii=False)
        )
        self.stdout.write("\n" + line)
