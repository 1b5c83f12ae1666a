"""A project gets its server and its hooks beside what it has, and loses nothing else with them."""

import json
import os
import stat
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

OTHER_SERVER = {"command": "node", "args": ["other.js"]}
OTHER_HOOK = {"hooks": [{"type": "command", "command": "echo 'fini'"}]}
OTHERS = {
    "permissions": {"allow": ["Bash(make:*)"]},
    "hooks": {"Stop": [OTHER_HOOK], "PreToolUse": [{"matcher": "Bash", **OTHER_HOOK}]},
}


@pytest.fixture
def project(db, tmp_path, settings):
    settings.SQLITE_PATH = tmp_path / "base é.sqlite"
    folder = tmp_path / "mon projet à moi"
    folder.mkdir()
    return folder


def hooks(*arguments):
    out = StringIO()
    call_command("hooks", *map(str, arguments), stdout=out)
    return out.getvalue()


def install(project, session="panel", *more):
    return hooks("install", project, "--session", session, *more)


def read(project, name):
    return json.loads((project / name).read_text(encoding="utf-8"))


def put(project, name, content):
    path = project / name
    path.parent.mkdir(exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content, indent=2) + "\n"
    path.write_text(text, encoding="utf-8")
    return path


def snapshot(project):
    files = [path for path in project.rglob("*") if path.is_file()]
    return {str(path.relative_to(project)): path.read_bytes() for path in files}


def test_a_bare_project_gets_both_files(project):
    install(project)
    server = read(project, ".mcp.json")["mcpServers"]["handoff"]
    assert server["args"][-1] == "runmcp"
    assert server["env"]["MCP_SESSION_ID"] == "panel"
    assert server["env"]["MCP_PROJECT_CWD"] == str(project)
    found = read(project, ".claude/settings.json")["hooks"]
    assert list(found) == ["SessionStart", "Stop"]
    for groups in found.values():
        (handler,) = groups[0]["hooks"]
        assert handler["type"] == "command"
        assert f"'{project}'" in handler["command"]


def test_what_a_project_has_stays_and_uninstalling_gives_it_back_as_it_was(project):
    put(project, ".mcp.json", {"mcpServers": {"autre": OTHER_SERVER}})
    put(project, ".claude/settings.json", OTHERS)
    put(project, ".claude/settings.local.json", "not ours")
    before = snapshot(project)
    install(project)
    merged = read(project, ".claude/settings.json")
    assert merged["permissions"] == OTHERS["permissions"]
    assert merged["hooks"]["PreToolUse"] == OTHERS["hooks"]["PreToolUse"]
    assert merged["hooks"]["Stop"][0] == OTHER_HOOK
    assert len(merged["hooks"]["Stop"]) == 2
    assert read(project, ".mcp.json")["mcpServers"]["autre"] == OTHER_SERVER
    hooks("uninstall", project)
    assert snapshot(project) == before


def test_a_bare_project_is_bare_again(project):
    install(project)
    hooks("uninstall", project)
    assert snapshot(project) == {}
    assert "rien à changer" in hooks("uninstall", project)


def test_installing_twice_changes_nothing(project):
    install(project)
    before = snapshot(project)
    assert install(project).count("rien à changer") == 2
    assert snapshot(project) == before


def test_a_dry_run_shows_every_line_and_writes_nothing(project):
    put(project, ".claude/settings.json", OTHERS)
    before = snapshot(project)
    shown = install(project, "panel", "--dry-run")
    assert '+        "MCP_SESSION_ID": "panel",' in shown
    assert '+            "type": "command",' in shown
    assert "rien n'a changé" in shown
    assert snapshot(project) == before
    install(project)
    installed = snapshot(project)
    assert "-" in hooks("uninstall", project, "--dry-run")
    assert snapshot(project) == installed


def test_our_hooks_of_an_install_that_moved_are_renewed_and_a_persons_variable_stays(project):
    install(project)
    for name in (".mcp.json", ".claude/settings.json"):
        put(project, name, (project / name).read_text().replace("/manage.py", "/old/manage.py")
            .replace("/mcp_bridge/hooks", "/old/mcp_bridge/hooks"))  # fmt: skip
    config = read(project, ".mcp.json")
    config["mcpServers"]["handoff"]["env"]["HANDOFF_LOG_LEVEL"] = "DEBUG"
    put(project, ".mcp.json", config)
    install(project)
    assert "/old/" not in (project / ".claude/settings.json").read_text()
    assert len(read(project, ".claude/settings.json")["hooks"]["Stop"]) == 1
    server = read(project, ".mcp.json")["mcpServers"]["handoff"]
    assert "/old/" not in server["args"][0]
    assert server["env"]["HANDOFF_LOG_LEVEL"] == "DEBUG"


@pytest.mark.parametrize("name", [".mcp.json", ".claude/settings.json"])
@pytest.mark.parametrize(
    "content",
    [
        '{"hooks": ',
        "// a comment\n{}",
        "[]",
        '{"hooks": [], "mcpServers": []}',
        '{"hooks": {"Stop": {}}, "mcpServers": {"handoff": 3}}',
        '{"hooks": {"Stop": [3]}, "mcpServers": {"handoff": []}}',
        '{"hooks": {"Stop": [{"hooks": [null]}]}, "mcpServers": 3}',
        '{"a": 1, "a": 2}',
        "[" * 100_000,
    ],
)
def test_a_malformed_file_is_refused_in_a_sentence_and_nothing_is_written(project, name, content):
    put(project, name, content)
    before = snapshot(project)
    with pytest.raises(CommandError) as refusal:
        install(project)
    assert name in str(refusal.value)
    assert "rien n'a été changé" in str(refusal.value)
    assert snapshot(project) == before


def test_a_file_that_is_not_utf_8_is_refused(project):
    path = put(project, ".claude/settings.json", "{}")
    path.write_bytes('{"é": 1}'.encode("latin-1"))
    with pytest.raises(CommandError, match="UTF-8"):
        install(project)


def test_the_line_of_a_fault_is_named(project):
    put(project, ".claude/settings.json", '{\n  "a": 1,\n}\n')
    with pytest.raises(CommandError, match="la ligne 3"):
        install(project)


def test_another_session_and_anothers_server_are_not_overwritten(project):
    install(project, "panel")
    before = snapshot(project)
    with pytest.raises(CommandError, match="session panel"):
        install(project, "app")
    assert snapshot(project) == before
    hooks("uninstall", project)
    put(project, ".mcp.json", {"mcpServers": {"handoff": OTHER_SERVER}})
    before = snapshot(project)
    with pytest.raises(CommandError, match="autre serveur"):
        install(project)
    hooks("uninstall", project)
    assert snapshot(project) == before


def test_an_unknown_session_and_a_missing_folder_are_refused(project):
    with pytest.raises(CommandError, match="panel, app"):
        install(project, "nobody")
    with pytest.raises(CommandError, match="n'est pas un dossier"):
        install(project / "absent")
    assert snapshot(project) == {}


def test_a_link_stays_a_link_and_permissions_stay(project, tmp_path):
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").symlink_to(real)
    install(project)
    assert (project / ".claude" / "settings.json").is_symlink()
    assert "Stop" in json.loads(real.read_text())["hooks"]
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_new_file_with_the_databases_password_is_its_owners_alone(project, settings, monkeypatch):
    url = "postgresql://handoff:secret@db/handoff"
    settings.DATABASE_URL = url
    monkeypatch.setenv("DATABASE_URL", url)
    assert "mot de passe" in install(project)
    assert stat.S_IMODE((project / ".mcp.json").stat().st_mode) == 0o600
    assert "secret" not in (project / ".claude/settings.json").read_text()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_a_sentence(project):
    project.chmod(0o500)
    with pytest.raises(CommandError, match="ni lu ni écrit"):
        install(project)
    project.chmod(0o700)


def test_a_folder_in_a_files_place_is_a_sentence(project):
    (project / ".mcp.json").mkdir()
    with pytest.raises(CommandError, match="ni lu ni écrit"):
        install(project)
    assert list(project.rglob("*")) == [project / ".mcp.json"]


def test_no_temporary_file_is_left(project):
    install(project)
    names = {path.name for path in Path(project).rglob("*") if path.is_file()}
    assert names == {".mcp.json", "settings.json"}
