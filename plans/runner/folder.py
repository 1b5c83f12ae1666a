"""The folder that validations run in, from MCP_PROJECT_CWD."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from coordination.errors import Conflict, Invalid
from plans.rules import HttpGetStatus, parse_rule

NO_FOLDER = Path(os.devnull)
"""Where a rule that needs no folder runs: nothing can start there, or be found."""


def folder_for(mode: str, rule: Any, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder where a stored rule runs.

    Raises:
        Conflict: the rule needs it, and MCP_PROJECT_CWD names no folder that can be entered.
    """
    if not needs_folder(mode, rule):
        return NO_FOLDER
    given = environ.get("MCP_PROJECT_CWD", "").strip()
    if not given:
        raise _unusable(_("MCP_PROJECT_CWD is not set."))
    folder = Path(given).expanduser().absolute()
    if not (folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)):
        raise _unusable(
            _("MCP_PROJECT_CWD is {folder}, which is not a folder that can be entered.").format(
                folder=given
            )
        )
    return folder


def needs_folder(mode: str, rule: Any) -> bool:
    """Tell whether a rule runs or looks inside the project; a faulty one does neither."""
    try:
        parsed = parse_rule(mode, rule)
    except Invalid:
        return False
    if isinstance(parsed, list):
        return not all(isinstance(check, HttpGetStatus) for check in parsed)
    return parsed is not None


def _unusable(fault: str) -> Conflict:
    cure = _(
        "Set it to the project's folder in this session's MCP configuration and reconnect; "
        "the step stays current."
    )
    return Conflict(f"{fault} {cure}", code="no_project_folder")
