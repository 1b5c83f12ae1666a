"""Every command that the guides tell people to type works as it is written."""

import re
import subprocess
import sys
from pathlib import Path

import polib
import pytest

from tests.conftest import PROJECT, clean_environment

PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
GUIDES = [page for page in PAGES if page.parent.name == "guides"]
"""`operations.md` and `remote-agents.md` tell an administrator what to type on a server: nginx,
systemd and MCP over HTTP have tests of their own."""
FENCE = re.compile(r"^ *```sh\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
MANAGE = re.compile(r"^(?:\S*/)?\.venv/bin/python (?:\S*/)?manage\.py ")
SERVES = re.compile(r"^(HANDOFF_\w+=\S+ )?make (run|test|bench|lint)\b")
"""Make's targets: the tests of `serve`, this very run and CI try them."""


def commands(guide: Path) -> list[str]:
    lines = [
        line.strip() for block in FENCE.findall(guide.read_text()) for line in block.split("\n")
    ]
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_the_commands_of_a_guide_work_in_order(guide: Path, database_file, tmp_path) -> None:
    environment = clean_environment(
        MCP_HANDOFF_DB=str(database_file), HANDOFF_DATA_DIR=str(tmp_path)
    )
    for command in commands(guide):
        if SERVES.match(command):
            continue
        assert MANAGE.match(command), f"{guide.name}: nobody tries {command!r}"
        line = MANAGE.sub(f"{sys.executable} {PROJECT / 'manage.py'} ", command)
        done = subprocess.run(
            line, shell=True, cwd=tmp_path, env=environment,
            capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def test_what_is_typed_in_another_folder_names_handoffs_own() -> None:
    """`mcpconfig --cwd .` is typed in a project's folder; the alias, wherever one happens to be."""
    elsewhere = [
        line for page in PAGES for line in page.read_text().splitlines()
        if line.endswith("mcpconfig panel --cwd .")
    ]  # fmt: skip
    assert len(elsewhere) > 1
    for line in elsewhere:
        assert re.match(r"/\S*/\.venv/bin/python /\S*/manage\.py ", line), line
    operations = (PROJECT / "docs/operations.md").read_text()
    (alias,) = re.findall(r"^alias handoff='(.*?)'$", operations, re.MULTILINE | re.DOTALL)
    assert alias.endswith(" /opt/handoff/.venv/bin/python manage.py")


def test_symptoms_are_quoted_as_people_read_them() -> None:
    catalogues = [PROJECT / "locale", *PROJECT.glob("*/locale")]
    french = "\n".join(
        entry.msgstr.lower()
        for folder in catalogues
        for entry in polib.pofile(str(folder / "fr/LC_MESSAGES/django.po"))
    )
    symptoms = (PROJECT / "docs/guides/troubleshooting.md").read_text()
    for heading in re.findall(r"^\*\*(.*?)\*\*", symptoms, re.MULTILINE):
        for quoted in re.findall("« (.*?) »", heading):
            for part in quoted.split("…"):
                assert part.strip().lower() in french, quoted


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_links_only_to_what_exists(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} → {target}"
