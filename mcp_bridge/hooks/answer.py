"""What a hook answers: the session's state at the start, and once a reason not to stop yet.

Input and output are those of https://code.claude.com/docs/en/hooks (SessionStart, Stop). Nothing
here loads Django, which takes longer to start than a hook may take to answer.
"""

import gettext
import json
import os
import re
import signal
import sqlite3
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from mcp_bridge.desk import Desk, Query, look
from mcp_bridge.hooks import memory

PATIENCE_SECONDS = 2.0
"""After this a hook gives up: a database that does not answer must not hold the agent up."""
LIMIT = 1000
"""Open questions looked at, of each kind."""
IDS_SHOWN = 10
CATALOGUES = Path(__file__).parents[1] / "locale"

Translate = Callable[[str], str]
Settings = dict[str, str]


def main(project: str) -> None:
    """Read the hook's input, and write its answer if there is one."""
    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_SECONDS)
    event = json.loads(sys.stdin.buffer.read())
    settings = settings_of(project)
    text = answer(event, project, settings)
    sys.stdout.buffer.write(text.encode())


def answer(event: dict[str, Any], project: str, settings: Settings) -> str:
    """Return what goes to stdout, for the event that the input names."""
    session, translate = settings["MCP_SESSION_ID"], translation(settings)
    match event.get("hook_event_name"):
        case "SessionStart":
            return state_line(desk_of(settings), session, translate) + "\n"
        case "Stop" if not event.get("stop_hook_active"):
            return stop(event, project, desk_of(settings), translate)
    return ""


def stop(event: dict[str, Any], project: str, desk: Desk, translate: Translate) -> str:
    """Return the decision to go on, once for each thing left open; nothing lets the agent stop."""
    items = open_items(desk)
    told = memory.of(event["session_id"], project)
    new = items.keys() - told
    if not new:
        return ""
    # Before the answer: what cannot be remembered must not be said, or it would be said again.
    memory.keep(event["session_id"], project, [*told, *sorted(new)])
    return json.dumps({"decision": "block", "reason": reason(desk, new, translate)}) + "\n"


def open_items(desk: Desk) -> dict[str, int]:
    """Return what is left open, by a name that is another one when it comes back anew."""
    items = {f"question {number}": number for number in desk.questions}
    if desk.step and desk.step.status == "current":
        items[f"step {desk.step.id} since {desk.step.since}"] = desk.step.id
    return items


def reason(desk: Desk, new: set[str], _: Translate) -> str:
    """Say what is left to do, of what has not been said yet."""
    parts = [_("Before you stop:")]
    questions = [number for number in desk.questions if f"question {number}" in new]
    if questions:
        ids = ", ".join(f"#{number}" for number in questions[:IDS_SHOWN])
        more = "…" if len(questions) > IDS_SHOWN else ""
        parts.append(
            _("open question(s) for you, {ids}: mf_inbox, then mf_answer or mf_close.").format(
                ids=ids + more
            )
        )
    if desk.step and any(name.startswith("step ") for name in new):
        parts.append(
            _(
                "step #{id} — {title} is current: finish it, then mf_validate_step({id}); or "
                "mf_block_step({id}, reason)."
            ).format(id=desk.step.id, title=desk.step.title)
        )
    return " ".join(parts)


def state_line(desk: Desk, session: str, _: Translate) -> str:
    """Return the session's state on one line."""
    count = len(desk.questions)
    questions = (
        _("{n} open question(s) for you: mf_inbox.").format(n=count)
        if count
        else _("No open question for you.")
    )
    parts = (f"Handoff, session {session}:", questions, step_sentence(desk, session, _))
    return " ".join(" ".join(parts).split())


def step_sentence(desk: Desk, session: str, _: Translate) -> str:
    """Say where the session's step stands."""
    if desk.step is None:
        return _("No step waiting for {project}.").format(project=session)
    text = {
        "pending": _("A step waits for you: mf_next_step."),
        "current": _("Step #{id} — {title} is current: mf_next_step."),
        "awaiting_human": _("Step #{id} awaits human validation."),
        "validating": _("Step #{id} is being validated."),
    }.get(desk.step.status, _("Step #{id} is halted: a human must reset or skip it."))
    return text.format(id=desk.step.id, title=desk.step.title)


def settings_of(project: str) -> Settings:
    """Return the variables of this server in the project's `.mcp.json`."""
    config = json.loads(Path(project, ".mcp.json").read_text(encoding="utf-8-sig"))
    variables = config["mcpServers"]["handoff"]["env"]
    return {name: expanded(value) for name, value in variables.items()}


def expanded(value: str) -> str:
    """Return a value as Claude Code would: with `${NAME}` and `${NAME:-default}` replaced."""
    return re.sub(
        r"\$\{(\w+)(?::-([^}]*))?\}",
        lambda found: os.environ.get(found[1]) or found[2] or "",
        value,
    )


def translation(settings: Settings) -> Translate:
    """Return the translation into the install's language; English needs none."""
    language = settings.get("HANDOFF_LANGUAGE", "fr")
    return gettext.translation("django", CATALOGUES, [language], fallback=True).gettext


def desk_of(settings: Settings) -> Desk:
    """Read what waits for the session, without a lock and without a write."""
    query = on_server(settings) if settings.get("DATABASE_URL") else on_file(settings)
    return look(query, settings["MCP_SESSION_ID"], limit=LIMIT)


def on_file(settings: Settings) -> Query:
    """Return how to ask the SQLite file."""
    path = settings["MCP_HANDOFF_DB"]
    for char in "%?#":
        path = path.replace(char, f"%{ord(char):02x}")
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=0.2)

    def query(sql: str, values: Sequence[Any]) -> list[Any]:
        return database.execute(sql.replace("%s", "?"), values).fetchall()

    return query


def on_server(settings: Settings) -> Query:
    """Return how to ask PostgreSQL."""
    import psycopg  # here, because it takes longer to load than all the rest together

    server = psycopg.connect(settings["DATABASE_URL"], autocommit=True, connect_timeout=2)

    def query(sql: str, values: Sequence[Any]) -> list[Any]:
        return server.execute(sql.encode(), values).fetchall()

    return query


def give_up(_number: int, _frame: FrameType | None) -> None:
    """Stop waiting."""
    raise TimeoutError(f"no answer within {PATIENCE_SECONDS:g} s")
