"""File checks look inside the project's folder only, and quote nothing of what they read."""

import asyncio
import os
import resource
import time
from pathlib import Path

import pytest

from plans.rules import FileContains, FileExists
from plans.runner.artifact import run_artifact
from tests.plans.runner.running import check

SECRET = "squeamish ossifrage"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "proj"
    (folder / "sub").mkdir(parents=True)
    (folder / "notes.txt").write_text(f"héllo 100% [a-z]* {SECRET}\n")
    evil = tmp_path / "proj-evil"
    evil.mkdir()
    (evil / "x").write_text(SECRET)
    return folder


def exists(path):
    return {"rule": "file_exists", "path": path}


def contains(path, text):
    return {"rule": "file_contains", "path": path, "text": text}


async def test_file_and_folder_exist(project):
    outcome = await check(project, exists("notes.txt"), exists("sub/"), exists("sub/../notes.txt"))
    assert outcome.passed
    assert outcome.evidence.splitlines() == [
        "file_exists notes.txt: exists",
        "file_exists sub/: exists (folder)",
        "file_exists sub/../notes.txt: exists",
    ]


async def test_all_of_a_list_must_hold_and_each_has_its_line(project):
    outcome = await check(
        project, exists("notes.txt"), exists("gone"), contains("notes.txt", "absent")
    )
    assert not outcome.passed
    assert outcome.evidence.splitlines() == [
        "file_exists notes.txt: exists",
        "file_exists gone: does not exist",
        "file_contains notes.txt: the text is not in it",
    ]
    assert outcome.error == (
        "file_exists gone: does not exist; file_contains notes.txt: the text is not in it"
    )


async def test_many_long_failures_stay_storable(project):
    paths = [f"{i}/{'long/' * 190}" for i in range(50)]
    outcome = await check(project, *(exists(path) for path in paths))
    assert len(outcome.evidence.splitlines()) == 50
    assert len(outcome.evidence) < 20_000
    assert outcome.error.count("file_exists") == 5
    assert outcome.error.endswith("; …")


@pytest.mark.parametrize("text", ["héllo", "100% [a-z]*", SECRET])
async def test_text_is_taken_literally(project, text):
    outcome = await check(project, contains("notes.txt", text))
    assert outcome.passed
    assert SECRET not in outcome.evidence


@pytest.mark.parametrize("text", ["h.llo", "HÉLLO", "100% [a-z]+"])
async def test_text_is_no_pattern(project, text):
    assert not (await check(project, contains("notes.txt", text))).passed


@pytest.mark.parametrize("size", [(1 << 20) - 4, (1 << 20) - 1, 3 << 20])
async def test_text_is_found_across_the_pieces_read(project, size):
    (project / "big").write_bytes(b"x" * size + b"needle" + b"x" * 100)
    assert (await check(project, contains("big", "needle"))).passed
    assert (await check(project, contains("big", "needlex"))).passed
    assert not (await check(project, contains("big", "xneedles"))).passed
    assert (await check(project, contains("big", "x"))).passed


async def test_big_file_is_read_in_bounded_memory(project):
    with (project / "huge").open("wb") as file:
        file.truncate(400_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert not (await check(project, contains("huge", "needle"))).passed
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


@pytest.mark.parametrize("path", ["../proj-evil/x", "/etc/passwd", "sub/../../proj-evil/x", ".."])
@pytest.mark.parametrize("kind", ["exists", "contains"])
async def test_path_that_leaves_the_folder_fails(project, path, kind):
    # Saved rules cannot hold such a path; one written by SQL must not be followed all the same.
    if kind == "exists":
        rule = FileExists.model_construct(rule="file_exists", path=path)
    else:
        rule = FileContains.model_construct(rule="file_contains", path=path, text="s")
    outcome = await run_artifact([rule], project)
    assert not outcome.passed
    assert SECRET not in outcome.evidence + outcome.error
    assert "root:" not in outcome.evidence


async def test_link_that_leaves_the_folder_fails(project):
    (project / "out").symlink_to(project.parent / "proj-evil" / "x")
    (project / "outdir").symlink_to(project.parent / "proj-evil")
    (project / "abs").symlink_to("/etc/passwd")
    for rule in (
        exists("out"), contains("out", "squeamish"), exists("outdir/x"), exists("outdir/none"),
        contains("outdir/x", "squeamish"), contains("abs", "root"),
    ):  # fmt: skip
        outcome = await check(project, rule)
        assert not outcome.passed
        assert "leads out of the project's folder" in outcome.error
        assert SECRET not in outcome.evidence


async def test_link_inside_the_folder_is_followed(project):
    (project / "link").symlink_to("notes.txt")
    assert (await check(project, exists("link"), contains("link", "héllo"))).passed


async def test_folder_reached_through_a_link_is_the_folder(project):
    (project.parent / "alias").symlink_to(project)
    assert (await check(project.parent / "alias", contains("notes.txt", "héllo"))).passed


async def test_links_in_a_circle_are_a_sentence(project):
    (project / "a").symlink_to("b")
    (project / "b").symlink_to("a")
    outcome = await check(project, exists("a"), contains("a", "x"))
    assert not outcome.passed
    assert len(outcome.evidence.splitlines()) == 2


async def test_pipe_folder_and_unreadable_names_neither_hang_nor_pass(project):
    os.mkfifo(project / "pipe")
    started = time.monotonic()
    outcome = await check(
        project,
        contains("pipe", "x"),
        contains("sub", "x"),
        exists("n" * 300),
        exists("notes.txt/x"),
    )
    assert time.monotonic() - started < 2
    lines = outcome.evidence.splitlines()
    assert lines[0] == "file_contains pipe: is not an ordinary file"
    assert lines[1] == "file_contains sub: is not an ordinary file"
    assert "cannot be read" in lines[2]
    assert not outcome.passed


async def test_cancelled_search_stops_reading(project):
    with (project / "endless").open("wb") as file:
        file.truncate(200_000_000_000)
    search = asyncio.create_task(check(project, contains("endless", "needle")))
    await asyncio.sleep(0.2)
    search.cancel()
    await asyncio.wait({search})
    started = time.monotonic()
    # The executor's thread must be free again, or the process could not exit.
    await asyncio.get_running_loop().shutdown_default_executor()
    assert time.monotonic() - started < 1


async def test_folder_that_is_gone_is_a_sentence(tmp_path):
    outcome = await check(Path(tmp_path / "gone"), exists("x"))
    assert outcome.error == "file_exists x: does not exist"
