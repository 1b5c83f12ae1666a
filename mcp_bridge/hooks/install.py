"""Give a project its server and its hooks, beside whatever it has; take away only these."""

import copy
import difflib
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from coordination.errors import Conflict, Invalid
from mcp_bridge.client import SERVER, entry

RUN = Path(__file__).with_name("run.py")
OWN_ENDING = "mcp_bridge/hooks/run.py"
"""How our handlers are told from others, those of an install that has moved included."""
EVENTS = ("SessionStart", "Stop")
TIMEOUT_SECONDS = 5
"""After which Claude Code gives up; the hook itself gives up sooner."""

Json = dict[str, Any]


class TwiceError(Exception):
    """A key stands twice in one object."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file as it is and as it should be; None where there is none."""

    path: Path
    before: str | None
    after: str | None

    @property
    def needed(self) -> bool:
        """Tell whether there is anything to write."""
        return self.before != self.after

    def diff(self) -> str:
        """Return what would change, line by line."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        return "".join(difflib.unified_diff(old, new, str(self.path), str(self.path), n=2))


def installation(folder: Path, session: str) -> list[Change]:
    """Return what gives the project in `folder` the server and the hooks of `session`.

    Raises:
        Invalid: an unknown session, or a file that is not as it should be.
        Conflict: the project has another server of this name.
    """
    server = entry(session, folder)
    # Spelt out, for the hooks: they read them here and know no default.
    if not settings.DATABASE_URL:
        server["env"]["MCP_HANDOFF_DB"] = str(settings.SQLITE_PATH)
    server["env"]["HANDOFF_LANGUAGE"] = settings.LANGUAGE_CODE
    command = shlex.join([sys.executable, "-I", str(RUN), str(folder)])
    return [
        changed(folder / ".mcp.json", lambda found: with_server(found, server)),
        changed(folder / ".claude" / "settings.json", lambda found: with_hooks(found, command)),
    ]


def removal(folder: Path) -> list[Change]:
    """Return what takes the server and the hooks away from the project in `folder`.

    Raises:
        Invalid: a file that is not as it should be.
    """
    return [
        changed(folder / ".mcp.json", without_server),
        changed(folder / ".claude" / "settings.json", without_hooks),
    ]


def write(changes: list[Change]) -> None:
    """Write every change: all of them prepared first, then each put in place in one step."""
    staged = [(change, staged_file(change)) for change in changes if change.needed]
    for change, file in staged:
        if file is None:
            change.path.unlink()
        else:
            file.replace(change.path.resolve())


def staged_file(change: Change) -> Path | None:
    """Write a file's new content beside it; None when it is to go."""
    if change.after is None:
        return None
    target = change.path.resolve()  # a link stays one, and leads to the new content
    target.parent.mkdir(parents=True, exist_ok=True)
    # A new file that holds the database's password is its owner's alone.
    mode = 0o600 if "DATABASE_URL" in change.after else 0o644
    with tempfile.NamedTemporaryFile("w", dir=target.parent, delete=False, encoding="utf-8") as new:
        os.fchmod(new.fileno(), target.stat().st_mode if target.exists() else mode)
        new.write(change.after)
    return Path(new.name)


def changed(path: Path, edit: Callable[[Json], None]) -> Change:
    """Return the change that `edit` makes to a JSON file; one left with nothing goes."""
    before, content = read(path)
    edited = copy.deepcopy(content)
    try:
        edit(edited)
    except (AttributeError, TypeError, KeyError, IndexError):
        raise Invalid("path", malformed(path, _("it is not built as Claude Code's"))) from None
    if edited == content:
        return Change(path, before, before)
    return Change(path, before, dumped(edited) if edited else None)


def dumped(content: Json) -> str:
    """Return an object as people read it; half a surrogate pair only exists escaped."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    if any("\ud800" <= char <= "\udfff" for char in text):
        text = json.dumps(content, indent=2)
    return text + "\n"


def read(path: Path) -> tuple[str | None, Json]:
    """Return a file's text and the object in it; of an absent one, nothing.

    Raises:
        Invalid: it holds no JSON object.
    """
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text.removeprefix("\ufeff") or "{}", object_pairs_hook=once_each)
    except FileNotFoundError:
        return None, {}
    except json.JSONDecodeError as error:
        fault = _("line {line} is no JSON").format(line=error.lineno)
        raise Invalid("path", malformed(path, fault)) from None
    except UnicodeDecodeError:
        raise Invalid("path", malformed(path, _("it is not UTF-8"))) from None
    except TwiceError:
        fault = _("a key stands twice in one object")
        raise Invalid("path", malformed(path, fault)) from None
    except RecursionError:
        raise Invalid("path", malformed(path, _("it is nested too deeply"))) from None
    if not isinstance(content, dict):
        raise Invalid("path", malformed(path, _("it holds no object")))
    return text, content


def once_each(pairs: list[tuple[str, Any]]) -> Json:
    """Return an object; a key that stands twice would lose a value when it is written again."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise TwiceError
    return found


def malformed(path: Path, fault: str) -> str:
    """Return the sentence that refuses a file."""
    return _("{path}: {fault}. Mend it first; nothing was changed.").format(path=path, fault=fault)


def with_server(config: Json, server: Json) -> None:
    """Add the server, or renew its paths; what a person added to its variables stays."""
    servers = config.setdefault("mcpServers", {})
    known = servers.setdefault(SERVER, server)
    if not is_own_server(known):
        raise Conflict(
            _(
                "this project has another server called {name}: rename it in .mcp.json first."
            ).format(name=SERVER)
        )
    session = known["env"].get("MCP_SESSION_ID")
    if session != server["env"]["MCP_SESSION_ID"]:
        raise Conflict(
            _(
                "this project works under the session {session} already: run `hooks uninstall` "
                "first."
            ).format(session=session)
        )
    servers[SERVER] = known | server | {"env": known["env"] | server["env"]}


def without_server(config: Json) -> None:
    """Take the server away, if it is ours."""
    servers = config.get("mcpServers", {})
    if SERVER in servers and is_own_server(servers[SERVER]):
        del servers[SERVER]
        if not servers:
            del config["mcpServers"]


def is_own_server(server: Json) -> bool:
    """Tell whether a server is started by `manage.py runmcp`."""
    words = server.get("args", [])
    return any(
        Path(file).name == "manage.py" and command == "runmcp" for file, command in pairwise(words)
    )


def with_hooks(config: Json, command: str) -> None:
    """Add the handlers after those that are there, in place of our own of another install."""
    handler = {"type": "command", "command": command, "timeout": TIMEOUT_SECONDS}
    if all([handler] == own_handlers(config, event) for event in EVENTS):
        return
    without_hooks(config)
    hooks = config.setdefault("hooks", {})
    for event in EVENTS:
        hooks.setdefault(event, []).append({"hooks": [dict(handler)]})


def own_handlers(config: Json, event: str) -> list[Json]:
    """Return our handlers of one event."""
    groups = config.get("hooks", {}).get(event, [])
    return [one for group in groups for one in group["hooks"] if is_own_handler(one)]


def without_hooks(config: Json) -> None:
    """Take our handlers away, and each list that they leave empty."""
    hooks = config.get("hooks", {})
    for event in EVENTS:
        if not own_handlers(config, event):
            continue
        for group in hooks[event]:
            group["hooks"] = [one for one in group["hooks"] if not is_own_handler(one)]
        hooks[event] = [group for group in hooks[event] if group["hooks"]]
        if not hooks[event]:
            del hooks[event]
        if not hooks:
            del config["hooks"]


def is_own_handler(handler: Json) -> bool:
    """Tell whether a handler runs our hook."""
    try:
        words = shlex.split(str(handler.get("command", "")))
    except ValueError:  # an odd quote: a shell would not run it either
        return False
    return any(word.endswith(OWN_ENDING) for word in words)
