"""What each of Claude Code's sessions has been told, so that nothing is said to it twice.

One small file a session, in the person's own state folder: the database is shared by people and
machines, and a conversation is neither's business.
"""

import hashlib
import json
import os
from pathlib import Path

NAMES_KEPT = 2000
"""Things told, of one session: the latest ones."""
FILES_KEPT = 200
"""Sessions remembered: the latest ones."""


def of(session_id: str, project: str) -> list[str]:
    """Return what was told; a file that cannot be read is an error, and nothing is said then."""
    try:
        return list(json.loads(path_of(session_id, project).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return []


def keep(session_id: str, project: str, told: list[str]) -> None:
    """Remember what was told, in one step: another reader sees all of it or none."""
    path = path_of(session_id, project)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    forget_oldest(path.parent)
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(told[-NAMES_KEPT:]), encoding="utf-8")
    temporary.replace(path)


def path_of(session_id: str, project: str) -> Path:
    """Return the file of one session in one project."""
    given = os.environ.get("XDG_STATE_HOME", "")
    home = Path(given) if given.startswith("/") else Path.home() / ".local" / "state"
    name = hashlib.sha256(f"{session_id}\0{project}".encode()).hexdigest()[:32]
    return home / "handoff" / "hooks" / f"{name}.json"


def forget_oldest(folder: Path) -> None:
    """Make room for one more file, and for what a killed writer left."""
    files = sorted(os.scandir(folder), key=lambda file: file.stat().st_mtime)
    for file in files[: max(0, len(files) - FILES_KEPT + 1)]:
        Path(file.path).unlink(missing_ok=True)
