"""Print what an agent's client needs to know to start `runmcp` here."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.utils import Error
from django.utils.translation import gettext as _

from coordination.selectors.sessions import agent_sessions
from mcp_bridge.creation import MANAGE_PY
from mcp_bridge.readiness import explained

CARRIED = ("DATABASE_URL", "HANDOFF_LANGUAGE", "HANDOFF_TIME_ZONE")
"""Settings of this shell that the agent's process must share; its own environment has none."""


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
        try:
            known = [row.key for row in agent_sessions()]
        except Error as error:
            raise CommandError(explained(error).message) from error
        if session not in known:
            raise CommandError(
                _("unknown session {key!r}: choose one of {known}, or add it in the admin.").format(
                    key=session, known=", ".join(known)
                )
            )
        variables = environment(session, folder(cwd))
        command = [sys.executable, str(MANAGE_PY), "runmcp"]
        entry = {"command": command[0], "args": command[1:], "env": variables}
        options = [part for pair in variables.items() for part in ("--env", "=".join(pair))]
        line = shlex.join(["claude", "mcp", "add", "handoff", *options, "--", *command])
        self.stdout.write(
            json.dumps({"mcpServers": {"handoff": entry}}, indent=2, ensure_ascii=False)
        )
        self.stdout.write("\n" + line)


def environment(session: str, cwd: Path | None) -> dict[str, str]:
    """Return the variables that make a process elsewhere work on this install's database."""
    variables = {"MCP_SESSION_ID": session}
    if os.environ.get("MCP_HANDOFF_DB", "").strip() and not settings.DATABASE_URL:
        variables["MCP_HANDOFF_DB"] = str(settings.SQLITE_PATH)
    variables |= {name: os.environ[name] for name in CARRIED if os.environ.get(name, "").strip()}
    if cwd is not None:
        variables["MCP_PROJECT_CWD"] = str(cwd)
    return variables


def folder(cwd: str | None) -> Path | None:
    """Return the project's folder, absolute.

    Raises:
        CommandError: there is no such folder.
    """
    given = cwd or os.environ.get("MCP_PROJECT_CWD", "").strip()
    if not given:
        return None
    path = Path(given).expanduser().resolve()
    if not path.is_dir():
        raise CommandError(
            _("{path} is not a folder; give --cwd one that exists.").format(path=path)
        )
    return path
