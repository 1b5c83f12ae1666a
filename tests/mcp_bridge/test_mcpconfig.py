"""What `mcpconfig` prints works as it stands, from any folder."""

import json
import shlex
import subprocess
import sys

from bench.agent import Agent
from tests.conftest import PROJECT, clean_environment


def mcpconfig(database, *arguments, **variables):
    return subprocess.run(
        [sys.executable, PROJECT / "manage.py", "mcpconfig", *arguments],
        env=clean_environment(
            MCP_HANDOFF_DB=str(database), HANDOFF_DATA_DIR=str(database.parent), **variables
        ),
        cwd=database.parent,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_printed_entry_starts_an_agent_from_another_folder(database_file, tmp_path):
    folder = tmp_path / "a project's folder"
    folder.mkdir()
    done = mcpconfig(database_file, "panel", "--cwd", folder.name)
    printed, _blank, line = done.stdout.rpartition("\n\n")
    entry = json.loads(printed)["mcpServers"]["handoff"]
    assert entry["env"]["MCP_PROJECT_CWD"] == str(folder)
    command = (entry["command"], *entry["args"])
    with Agent(command=command, variables=entry["env"], cwd="/") as agent:
        assert agent.initialize().call("mf_inbox").text == "Aucune question (open) pour panel."
    words = shlex.split(line)
    assert words[:4] == ["claude", "mcp", "add", "handoff"]
    assert words[words.index("--") + 1 :] == list(command)
    given = [words[n + 1] for n, word in enumerate(words) if word == "--env"]
    assert dict(pair.split("=", 1) for pair in given) == entry["env"]


def test_the_language_of_this_install_is_carried_over(database_file):
    printed = mcpconfig(database_file, "panel", HANDOFF_LANGUAGE="en").stdout.rpartition("\n\n")[0]
    assert json.loads(printed)["mcpServers"]["handoff"]["env"]["HANDOFF_LANGUAGE"] == "en"


def test_an_unknown_session_human_and_a_missing_folder_are_refused(database_file):
    for arguments in (["nobody"], ["human"], ["panel", "--cwd", "nowhere"]):
        done = mcpconfig(database_file, *arguments)
        assert done.returncode == 1
        assert not done.stdout
        assert len(done.stderr.splitlines()) == 1
    assert "panel, app" in mcpconfig(database_file, "nobody").stderr


def test_an_absent_database_is_a_sentence(tmp_path):
    done = mcpconfig(tmp_path / "none.sqlite", "panel")
    assert done.returncode == 1
    assert "migrate" in done.stderr
    assert len(done.stderr.splitlines()) == 1
