"""The environment a validation command gets: the user's own, without the server's.

What is taken out is named, not what is let through: a build needs whatever its user's shell has
(JAVA_HOME, NVM_DIR, CARGO_HOME, SSH_AUTH_SOCK, a proxy, the project's own settings…), and no list
of those would ever be complete. What belongs to the server is known: its variables have its
prefixes, its secrets have values that are recognised under any name, and the virtual environment
that it runs in is the one its interpreter stands in.
"""

import os
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from urllib.parse import unquote

from django.conf import settings

OWN_PREFIXES = ("HANDOFF_", "MCP_", "DJANGO_", "PG")
"""Of variables that are the server's; libpq's say how it reaches its database."""
OWN_NAMES = frozenset({
    "DATABASE_URL", "REDIS_URL", "SECRET_KEY",
    # An interpreter or a virtual environment chosen for the server breaks the project's own.
    "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT", "PYTHONHOME", "PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__",
    # Where the server was started is not where the command runs; a shell sets these itself.
    "PWD", "OLDPWD",
})  # fmt: skip
KEPT_NAMES = frozenset({"PATH", "HOME", "LANG", "USER", "LOGNAME", "SHELL"})
"""Every command needs them, though a password like `postgres` is a part of many a PATH."""
SECRET_MIN = 8
"""Characters from which a value is surely a secret, not a word that others may hold."""
PASSWORD = re.compile(r"//[^/?#:]*:([^/?#]*)@|(?:^|[?&\s])password='?([^&\s']*)")
"""A URL's, before its host or as a parameter, or that of libpq's `password=…`."""


def command_environment(source: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a command, made from `source` (this process's own by default)."""
    secrets = server_secrets()
    environment = {
        name: value
        for name, value in (os.environ if source is None else source).items()
        if not name.upper().startswith(OWN_PREFIXES)
        and name.upper() not in OWN_NAMES
        and (name in KEPT_NAMES or not _tells(value, secrets))
    }
    environment["PATH"] = without_server(environment.get("PATH", "")) or os.defpath
    if python_path := without_server(environment.pop("PYTHONPATH", "")):
        environment["PYTHONPATH"] = python_path
    return environment


def server_secrets() -> set[str]:
    """Return the values that open something of the server's."""
    urls = (settings.DATABASE_URL, settings.REDIS_URL, settings.LISTEN_URL)
    password = str(settings.DATABASES["default"].get("PASSWORD") or "")
    written = {found for url in urls for pair in PASSWORD.findall(url) for found in pair}
    return {settings.SECRET_KEY, password, *urls, *written, *map(unquote, written)} - {""}


def _tells(value: str, secrets: Collection[str]) -> bool:
    """Tell whether a variable's value is a secret, or holds one that is no everyday word."""
    return any(value == one or (len(one) >= SECRET_MIN and one in value) for one in secrets)


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
