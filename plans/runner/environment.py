"""The environment a validation command gets: the user's own, without the server's.

What is taken out is named, not what is let through: a build needs whatever its user's shell has
(JAVA_HOME, NVM_DIR, CARGO_HOME, SSH_AUTH_SOCK, a proxy, the project's own settings…), and no list
of those would ever be complete. What belongs to the server is known: its variables have its
prefixes, its secrets have values that are recognised under any name, and the virtual environment
that it runs in is the one its interpreter stands in.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

OWN_PREFIXES = ("HANDOFF_", "MCP_", "DJANGO_")
OWN_NAMES = frozenset({
    "DATABASE_URL", "REDIS_URL", "SECRET_KEY",
    # An interpreter or a virtual environment chosen for the server breaks the project's own.
    "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT", "PYTHONHOME", "PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__",
    # Where the server was started is not where the command runs; a shell sets these itself.
    "PWD", "OLDPWD",
})  # fmt: skip
SECRET_MIN = 8
"""Characters from which a value is surely a secret, not a word that other variables may hold."""


def command_environment(source: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a command, made from `source` (this process's own by default)."""
    secrets = server_secrets()
    environment = {
        name: value
        for name, value in (os.environ if source is None else source).items()
        if not name.upper().startswith(OWN_PREFIXES)
        and name.upper() not in OWN_NAMES
        and not any(secret in value for secret in secrets)
    }
    environment["PATH"] = without_server(environment.get("PATH", "")) or os.defpath
    if python_path := without_server(environment.pop("PYTHONPATH", "")):
        environment["PYTHONPATH"] = python_path
    return environment


def server_secrets() -> list[str]:
    """List the values that open something of the server's."""
    password = str(settings.DATABASES["default"].get("PASSWORD") or "")
    values = (settings.SECRET_KEY, settings.DATABASE_URL, settings.REDIS_URL, password)
    return [value for value in values if len(value) >= SECRET_MIN]


def without_server(folders: str) -> str:
    """Return a search path without the server's own folder and its virtual environment's."""
    return os.pathsep.join(
        folder
        for folder in folders.split(os.pathsep)
        # A relative entry is looked up where the command runs: it is never the server's.
        if not (Path(folder).is_absolute() and _is_server(Path(folder).resolve()))
    )


def _is_server(folder: Path) -> bool:
    in_virtual_environment = sys.prefix != sys.base_prefix and folder.is_relative_to(
        Path(sys.prefix).resolve()
    )
    return in_virtual_environment or folder == settings.BASE_DIR
