"""A shell rule passes on status 0 alone, and says in one sentence why it did not."""

import asyncio
import signal
import time

import pytest

from tests.plans.runner.running import marked_sleep, processes, seen, shell, sleepers


async def test_status_zero_passes_with_its_output(tmp_path):
    outcome = await shell("echo out; echo err >&2; echo out", tmp_path)
    assert outcome.passed
    assert outcome.error == ""
    assert outcome.evidence == "exit status 0\nout\nerr\nout"


async def test_command_runs_in_the_folder(tmp_path):
    (tmp_path / "here").touch()
    assert (await shell("ls", tmp_path)).evidence.endswith("here")


@pytest.mark.parametrize(
    ("cmd", "error"),
    [
        ("exit 3", "exit status 3"),
        ("echo 'no such thing'; exit 3", "exit status 3: no such thing"),
        ("false | tail -1", "exit status 1"),
        ("kill -9 $$", "killed by signal 9 (SIGKILL)"),
        ("sh -c 'kill -15 $$' | cat", "exit status 143, after signal 15 (SIGTERM)"),
        ("kill -40 $$", "killed by signal 40"),
        ("exit 255", "exit status 255"),
        ("nowhere-to-be-found", "exit status 127"),
        ("if", "exit status 2"),
    ],
)
async def test_anything_else_fails_and_is_named(tmp_path, cmd, error):
    outcome = await shell(cmd, tmp_path)
    assert not outcome.passed
    assert outcome.error.startswith(error)
    assert "\n" not in outcome.error


async def test_standard_input_is_empty_and_there_is_no_terminal(tmp_path):
    outcome = await shell("cat && ! (: < /dev/tty) 2>/dev/null", tmp_path)
    assert outcome.passed, outcome.evidence


async def test_plain_sh_serves_where_there_is_no_bash(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    outcome = await shell('echo "$0"', tmp_path)
    assert outcome.evidence == "exit status 0\n/bin/sh"


async def test_folder_that_vanishes_is_a_sentence(tmp_path):
    outcome = await shell("true", tmp_path / "gone")
    assert not outcome.passed
    assert outcome.error.startswith("the command could not be started: ")


@pytest.mark.parametrize("wrapping", ["{}", 'trap "" TERM; {} | cat', "({} & {}) | cat; {}"])
async def test_time_limit_is_named_and_leaves_nothing(tmp_path, wrapping):
    sleep = marked_sleep()
    started = time.monotonic()
    outcome = await shell(wrapping.replace("{}", sleep), tmp_path, timeout=1)
    assert time.monotonic() - started < 6
    assert not outcome.passed
    assert "time limit of 1 s" in outcome.error
    assert processes(sleep) == []


async def test_command_may_clean_up_at_the_time_limit(tmp_path):
    outcome = await shell('trap "touch cleaned; exit 0" TERM; sleep 60 & wait', tmp_path, timeout=1)
    assert not outcome.passed
    assert (tmp_path / "cleaned").exists()


@pytest.mark.parametrize(
    "wrapping", ["{} &", "(setsid {} &);", "nohup setsid {} > /dev/null 2>&1 &"]
)
async def test_what_is_left_in_the_background_holds_up_nothing_and_goes(tmp_path, wrapping):
    sleep = marked_sleep()
    started = time.monotonic()
    outcome = await shell(wrapping.replace("{}", sleep) + " echo done; exit 4", tmp_path)
    assert time.monotonic() - started < 5
    assert outcome.error == "exit status 4: done"
    assert processes(sleep) == []


async def test_ignored_signals_of_the_runner_are_not_passed_on(tmp_path):
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (1, 13, 15)}
    try:
        outcome = await shell("kill -1 $$; exit 0", tmp_path)
        assert outcome.error == "killed by signal 1 (SIGHUP)"
        assert (await shell("kill -15 $$; exit 0", tmp_path)).error.startswith(
            "killed by signal 15"
        )
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def test_cancellation_leaves_nothing(tmp_path):
    sleep = marked_sleep()
    run = asyncio.create_task(shell(f'trap "" TERM; {sleep} | cat & setsid {sleep}', tmp_path))
    await seen(lambda: len(sleepers(sleep)) == 2)
    started = time.monotonic()
    run.cancel()
    run.cancel()
    await asyncio.wait({run})
    assert run.cancelled()
    assert time.monotonic() - started < 3
    assert processes(sleep) == []


async def test_cancellation_before_anything_has_started_leaves_nothing(tmp_path):
    for turns in range(4):
        sleep = marked_sleep()
        run = asyncio.create_task(shell(sleep, tmp_path))
        for _ in range(turns):
            await asyncio.sleep(0)
        run.cancel()
        await asyncio.wait({run})
        assert run.cancelled()
        assert processes(sleep) == []


async def test_event_loop_stays_free_while_a_command_floods(tmp_path):
    run = asyncio.create_task(shell("yes | head -c 200000000 | cat", tmp_path, timeout=30))
    worst = 0.0
    while not run.done():
        started = time.monotonic()
        await asyncio.sleep(0.01)
        worst = max(worst, time.monotonic() - started)
    assert worst < 1
