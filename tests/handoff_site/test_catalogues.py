"""The French catalogues: complete, current, compiled, and agreeing with one another."""

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import polib
import pytest

from tests.conftest import PROJECT, clean_environment, skip_or_fail

APPS = ["coordination", "plans", "notifications", "mcp_bridge", "handoff_site"]
CATALOGUES = [PROJECT / app / "locale/fr/LC_MESSAGES/django.po" for app in [*APPS, "."]]
FAMILIAR = re.compile(
    r"\b(tu|ta|ton|tes|toi|relis|refais|définis|écris|mets)\b"
    r"|(?<=[:;] )(choisis|lance|restaure|vérifie|installe|arrête|ajoute|termine|corrige|ouvre)\b",
    re.IGNORECASE,
)
"""A word by which one person says « tu », or tells a friend what to do."""
FOR_AGENTS = re.compile(r"mf_\w+|MCP configuration")
COPIED = shutil.ignore_patterns(".*", "data", "node_modules", "__pycache__", "tests", "bench")


def owner(path: Path) -> str:
    return path.relative_to(PROJECT).parts[0]


@pytest.mark.parametrize("path", CATALOGUES, ids=owner)
def test_every_sentence_is_translated_and_compiled(path: Path):
    source = polib.pofile(str(path))
    assert [e.msgid for e in source if not e.translated() or e.fuzzy] == []
    assert source.obsolete_entries() == []
    compiled = {(e.msgctxt, e.msgid): e.msgstr for e in polib.mofile(str(path.with_suffix(".mo")))}
    assert compiled == {(e.msgctxt, e.msgid): e.msgstr for e in source}


def test_no_sentence_has_two_translations():
    """Django merges the catalogues: of two translations one would never be seen."""
    found: dict[tuple, set[str]] = defaultdict(set)
    for path in CATALOGUES:
        for entry in polib.pofile(str(path)):
            found[entry.msgctxt, entry.msgid].add(entry.msgstr)
    assert {key: words for key, words in found.items() if len(words) > 1} == {}


@pytest.mark.parametrize("app", ["coordination", "plans", "notifications", "handoff_site"])
def test_people_are_vous(app: str):
    """Agents are « tu »: what they read is left out by its English, or has a word of its own."""
    path = PROJECT / app / "locale/fr/LC_MESSAGES/django.po"
    said = {e.msgid: e.msgstr for e in polib.pofile(str(path))}
    familiar = {msgid: text for msgid, text in said.items() if FAMILIAR.search(text)}
    assert {k: v for k, v in familiar.items() if not FOR_AGENTS.search(k)} == {}


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project copied, its catalogues made anew by xgettext."""
    if not shutil.which("xgettext"):
        skip_or_fail("no xgettext on this machine")
    copy = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(PROJECT, copy, ignore=COPIED)
    # Not `python -m django`: an app's own `selectors` would hide the standard library's.
    program = Path(sys.executable).with_name("django-admin")
    admin = [program, "makemessages", "-l", "fr", "--no-location"]
    for app in APPS:
        subprocess.run(admin, cwd=copy / app, check=True, env=clean_environment())
    ignored = [argument for app in APPS for argument in ("-i", f"{app}/*")]
    subprocess.run([*admin, *ignored], cwd=copy, check=True, env=clean_environment())
    return copy


@pytest.mark.parametrize("path", CATALOGUES, ids=owner)
def test_no_sentence_of_the_code_is_missing(extracted: Path, path: Path):
    fresh = polib.pofile(str(extracted / path.relative_to(PROJECT)))
    known = {(e.msgctxt, e.msgid) for e in polib.pofile(str(path))}
    assert {(e.msgctxt, e.msgid) for e in fresh if not e.obsolete} == known
