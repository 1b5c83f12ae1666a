"""What the hooks answer to the JSON that Claude Code documents, and that they never get in the way.

The inputs are those of https://code.claude.com/docs/en/hooks.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.database import variables_of
from mcp_bridge.hooks import memory
from mcp_bridge.hooks.install import RUN
from tests.conftest import clean_environment
from tests.mcp_bridge.conftest import rows
from tests.mcp_bridge.doors import in_another_process

COMMON = {
    "session_id": "00893aaf-19fa-41d2-8238-13269b9b3ca0",
    "transcript_path": "/home/ada/.claude/projects/p/00893aaf.jsonl",
    "cwd": "/home/ada/projet",
    "permission_mode": "default",
}
START = COMMON | {"hook_event_name": "SessionStart", "source": "startup", "model": "claude"}
STOP = COMMON | {"hook_event_name": "Stop", "stop_hook_active": False}
STEP = (
    "plan = plans.create_plan(actor=human, project='panel', title='P')",
    "tasks.add_task(actor=human, plan_id=plan.pk, title='Étape une', instructions='Fais.')",
    "steps.next_step(actor=Actor.agent('panel'))",
)


class Project:
    """A project whose `.mcp.json` leads to a database, and what its hooks answer."""

    def __init__(self, folder: Path, database: Path, **variables: str) -> None:
        self.folder, self.database = folder, database
        self.state = folder / "état"
        self.write({"MCP_SESSION_ID": "panel", **variables_of(database), **variables})

    def write(self, variables: dict[str, str]) -> None:
        config = {"mcpServers": {"handoff": {"command": "x", "args": [], "env": variables}}}
        (self.folder / ".mcp.json").write_text(json.dumps(config, ensure_ascii=False))

    def hook(self, event: object, **variables: str) -> tuple[str, str]:
        """Return what the hook says on its two outputs; it always ends with status 0."""
        given = event if isinstance(event, bytes) else json.dumps(event).encode()
        done = subprocess.run(
            [sys.executable, "-I", RUN, self.folder],
            input=given,
            capture_output=True,
            env=clean_environment(XDG_STATE_HOME=str(self.state), **variables),
            cwd="/",
            timeout=30,
        )
        assert done.returncode == 0
        return done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def project(tmp_path, database_file):
    folder = tmp_path / "un projet é #1 50%?"
    folder.mkdir()
    return Project(folder, database_file)


def ask(project, sender="app", to="panel"):
    rows(
        project.database,
        "INSERT INTO coordination_message (from_session_id, to_session_id, subject, "
        "subject_folded, body, status, created_at) VALUES (?, ?, 'Q', 'q', 'b', 'open', "
        "CURRENT_TIMESTAMP)",
        sender, to,
    )  # fmt: skip


def test_a_session_starts_with_one_line_on_its_state(project):
    said, complaint = project.hook(START)
    assert said == (
        "Handoff, session panel: Aucune question ouverte pour toi. "
        "Aucune étape en attente pour panel.\n"
    )
    assert not complaint
    ask(project)
    ask(project, to=None)
    in_another_process(project.database, *STEP)
    assert project.hook(START)[0] == (
        "Handoff, session panel: 2 question(s) ouverte(s) pour toi: mf_inbox. "
        "Étape #1 — Étape une en cours: mf_next_step.\n"
    )


def test_an_agent_that_stops_is_sent_back_once_for_each_open_thing(project):
    assert project.hook(STOP) == ("", "")
    ask(project)
    said = json.loads(project.hook(STOP)[0])
    assert said == {
        "decision": "block",
        "reason": "Avant de t'arrêter: question(s) ouverte(s) pour toi, #1: mf_inbox, puis "
        "mf_answer ou mf_close.",
    }
    assert project.hook(STOP) == ("", "")
    in_another_process(project.database, *STEP)
    assert json.loads(project.hook(STOP)[0])["reason"] == (
        "Avant de t'arrêter: étape #1 — Étape une en cours: finis-la, puis mf_validate_step(1); "
        "ou mf_block_step(1, raison)."
    )
    assert project.hook(STOP) == ("", "")


def test_the_flag_of_the_input_is_honoured_and_uses_nothing_up(project):
    ask(project)
    assert project.hook(STOP | {"stop_hook_active": True}) == ("", "")
    assert "#1" in project.hook(STOP)[0]


def test_another_conversation_is_told_for_itself(project):
    ask(project)
    assert project.hook(STOP)[0]
    assert project.hook(STOP | {"session_id": "another"})[0]


def test_a_step_that_a_human_sent_back_is_a_new_reason(project):
    in_another_process(project.database, *STEP)
    assert project.hook(STOP)[0]
    in_another_process(
        project.database,
        "transitions.submit_for_human(actor=Actor.agent('panel'), task_id=1)",
    )
    assert project.hook(STOP) == ("", "")  # it waits for a human: there the agent stops
    in_another_process(
        project.database, "transitions.reject_task(actor=human, task_id=1, remark='Non.')"
    )
    assert "mf_validate_step(1)" in project.hook(STOP)[0]


def test_english_is_spoken_where_the_install_speaks_it(tmp_path, database_file):
    project = Project(tmp_path, database_file, HANDOFF_LANGUAGE="en")
    assert project.hook(START)[0].endswith("No open question for you. No step waiting for panel.\n")


def test_a_variable_that_stands_for_the_databases_address_is_replaced(project):
    ((name, value),) = variables_of(project.database).items()
    project.write({"MCP_SESSION_ID": "${WHO:-panel}", name: "${WHERE}"})
    assert "session panel: Aucune question" in project.hook(START, WHERE=value)[0]


@pytest.mark.parametrize("given", [b"", b"{", b"[]", b"\xff", b"null", b'{"hook_event_name": 3}'])
def test_an_input_that_is_none_of_claude_codes_stops_nobody(project, given):
    assert project.hook(given)[0] == ""


def test_other_events_and_a_stop_without_a_session_say_nothing(project):
    ask(project)
    assert project.hook(COMMON | {"hook_event_name": "PreCompact"}) == ("", "")
    said, complaint = project.hook({"hook_event_name": "Stop"})
    assert not said
    assert complaint.startswith("handoff: ")


def test_an_absent_database_a_broken_one_and_no_configuration_fail_open(project, tmp_path):
    project.write({"MCP_SESSION_ID": "panel", "MCP_HANDOFF_DB": str(tmp_path / "none.sqlite")})
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"nothing of the kind" * 100)
    for spoil in (
        lambda: None,
        lambda: project.write({"MCP_SESSION_ID": "panel", "MCP_HANDOFF_DB": str(broken)}),
        lambda: (project.folder / ".mcp.json").write_text("{"),
        lambda: (project.folder / ".mcp.json").unlink(),
    ):
        spoil()
        for event in (START, STOP):
            said, complaint = project.hook(event)
            assert not said
            assert complaint.startswith("handoff: ")
            assert len(complaint.splitlines()) == 1
    assert not (tmp_path / "none.sqlite").exists()


def test_what_cannot_be_remembered_is_not_said(project):
    ask(project)
    project.state.write_text("in the folder's place")
    said, complaint = project.hook(STOP)
    assert not said
    assert complaint


def test_the_hook_writes_nothing_to_the_database_and_its_memory_is_bounded(project, monkeypatch):
    monkeypatch.setattr(memory, "FILES_KEPT", 3)
    monkeypatch.setattr(memory, "NAMES_KEPT", 5)
    monkeypatch.setenv("XDG_STATE_HOME", str(project.state))
    for number in range(6):
        memory.keep(f"session {number}", "p", [f"question {n}" for n in range(9)])
    assert memory.of("session 5", "p") == [f"question {n}" for n in range(4, 9)]
    assert memory.of("session 0", "p") == []
    assert len(list((project.state / "handoff" / "hooks").iterdir())) == 3
    before = rows(project.database, "SELECT count(*), max(id) FROM coordination_event")
    seen = rows(project.database, "SELECT max(last_seen) FROM coordination_session")
    project.hook(START)
    assert rows(project.database, "SELECT count(*), max(id) FROM coordination_event") == before
    assert rows(project.database, "SELECT max(last_seen) FROM coordination_session") == seen


def test_a_hook_gives_up_on_an_input_that_never_ends(project):
    reading, writing = os.pipe()
    before = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-I", RUN, project.folder], stdin=reading, capture_output=True, timeout=30
    )
    os.close(reading)
    os.close(writing)
    assert done.returncode == 0
    assert b"no answer" in done.stderr
    assert time.monotonic() - before < 10
