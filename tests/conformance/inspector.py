"""Have the Inspector's command line list and call every tool."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.tooling import Tooling
from tests.databases import PROJECT

QUESTION = "the question asked first"
CALLS: dict[str, dict[str, str]] = {
    "mf_ask": {"to": "app", "subject": "S", "body": "B"},
    "mf_broadcast": {"subject": "S", "body": "B"},
    "mf_inbox": {},
    "mf_answer": {"message_id": QUESTION, "body": "B"},
    "mf_close": {"message_id": QUESTION},
    "mf_history": {"limit": "5"},
    "mf_thread": {"message_id": QUESTION},
    "mf_health": {},
    "mf_next_step": {},
    "mf_validate_step": {"task_id": "1"},
    "mf_block_step": {"task_id": "1", "reason": "R"},
    "mf_wait": {"timeout": "1"},
}
REFUSED = {"mf_validate_step", "mf_block_step"}
"""There is no step: the answer is a sentence, not a crash."""


def inspect(tooling: Tooling, target: list[str], environment: dict[str, str]) -> Iterator[str]:
    """List and call every tool at a target; yield each complaint."""
    code, listed = asked(tooling, target, environment, "tools/list", "--strict")
    names = [tool["name"] for tool in listed.get("tools", [])]
    if code or sorted(names) != sorted(CALLS):
        yield f"tools/list: status {code}, {names}"
    question = "?"
    for name, arguments in CALLS.items():
        given = [f"{key}={value.replace(QUESTION, question)}" for key, value in arguments.items()]
        pairs = [part for pair in given for part in ("--tool-arg", pair)]
        code, result = asked(
            tooling, target, environment, "tools/call", "--tool-name", name, *pairs
        )
        text = (result.get("content") or [{}])[0].get("text", "")
        if name == "mf_ask":
            question = text.partition("#")[2].partition(" ")[0]
        if not text or result.get("isError", False) != (name in REFUSED):
            yield f"{name}: status {code}, {result}"


def asked(
    tooling: Tooling, target: list[str], environment: dict[str, str], method: str, *options: str
) -> tuple[int, dict[str, Any]]:
    """Run the Inspector once; return its status and what it printed."""
    done = subprocess.run(
        [*tooling.inspector, *target, "--method", method, *options],
        env=os.environ | environment | {"PATH": tooling.path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    try:
        printed: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        printed = {"printed": done.stdout[-500:] + done.stderr[-500:]}
    return done.returncode, printed


def over_stdio(session: str, environment: dict[str, str]) -> list[str]:
    """Return the target that starts an agent's process."""
    given = {"MCP_SESSION_ID": session} | {
        name: environment[name]
        for name in ("MCP_HANDOFF_DB", "DATABASE_URL")
        if name in environment
    }
    pairs = [part for pair in given.items() for part in ("-e", "=".join(pair))]
    return [*pairs, sys.executable, str(Path(PROJECT, "manage.py")), "runmcp"]


def over_http(url: str, key: str) -> list[str]:
    """Return the target that asks a site."""
    return [f"{url}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {key}"]
