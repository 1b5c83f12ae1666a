"""What an agent's client must know to start `runmcp` here."""

import os
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from coordination.errors import Invalid
from coordination.selectors.sessions import agent_sessions
from mcp_bridge.creation import MANAGE_PY

SERVER = "handoff"
"""How clients call this server."""
CARRIED = ("DATABASE_URL", "HANDOFF_LANGUAGE", "HANDOFF_TIME_ZONE")
"""Settings of this shell that the agent's process must share; its own environment has none."""


def entry(session: str, folder: Path | None) -> dict[str, Any]:
    """Return the server's entry of a `.mcp.json`, absolute: clients start it from anywhere.

    Raises:
        Invalid: no agent works under `session`.
    """
    known = [row.key for row in agent_sessions()]
    if session not in known:
        raise Invalid(
            "session",
            _("unknown session {key!r}: choose one of {known}, or add it in the admin.").format(
                key=session, known=", ".join(known)
            ),
        )
    command = [sys.executable, str(MANAGE_PY), "runmcp"]
    return {"command": command[0], "args": command[1:], "env": environment(session, folder)}


def environment(session: str, folder: Path | None) -> dict[str, str]:
    """Return the variables that make a process elsewhere work on this install's database."""
    variables = {"MCP_SESSION_ID": session}
    if os.environ.get("MCP_HANDOFF_DB", "").strip() and not settings.DATABASE_URL:
        variables["MCP_HANDOFF_DB"] = str(settings.SQLITE_PATH)
    variables |= {name: os.environ[name] for name in CARRIED if os.environ.get(name, "").strip()}
    if folder is not None:
        variables["MCP_PROJECT_CWD"] = str(folder)
    return variables


def existing_folder(given: str) -> Path:
    """Return a project's folder, absolute.

    Raises:
        Invalid: there is no such folder.
    """
    path = Path(given).expanduser().resolve()
    if not path.is_dir():
        raise Invalid("cwd", _("{path} is not a folder; give one that exists.").format(path=path))
    return path
