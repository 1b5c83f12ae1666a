"""Killed with -9 at any moment, the runner leaves no process behind."""

import asyncio
import signal
import time

import psutil
import pytest

from tests.conftest import wait_until
from tests.plans.runner.running import (
    marked_sleep,
    processes,
    python,
    seen,
    shell,
    sleepers,
    supervisor_of,
)

RUN = """
    from pathlib import Path
    from plans.rules import ShellRule
    from plans.runner.shell import run_shell
    print("ready", flush=True)
    outcome = asyncio.run(run_shell(ShellRule(cmd={cmd!r}, timeout=600), Path({cwd!r})))
    print(outcome.error)
"""


def gone(command: str) -> None:
    wait_until(lambda: not processes(command), seconds=5, what=f"the end of {command}")


def test_runner_killed_mid_rule(tmp_path):
    sleep = marked_sleep()
    cmd = f'trap "" TERM HUP INT; {sleep} | cat & setsid {sleep} & {sleep}'
    with python(RUN.format(cmd=cmd, cwd=str(tmp_path))) as runner:
        wait_until(lambda: len(sleepers(sleep)) == 3)
        runner.kill()
    gone(sleep)


@pytest.mark.parametrize("after_ms", [0, 5, 10, 15, 20, 30, 50])
def test_runner_killed_while_the_command_starts(tmp_path, after_ms):
    sleep = marked_sleep()
    with python(RUN.format(cmd=f"{sleep} & {sleep}", cwd=str(tmp_path))) as runner:
        assert runner.stdout.readline() == "ready\n"
        time.sleep(after_ms / 1000)
        runner.kill()
    gone(sleep)


async def test_supervisor_killed_ends_the_command_and_says_so(tmp_path):
    sleep = marked_sleep()
    run = asyncio.create_task(shell(f"{sleep} | cat & {sleep}", tmp_path, timeout=60))
    await seen(lambda: len(sleepers(sleep)) == 2)
    supervisor = supervisor_of(sleep)
    supervisor.kill()
    outcome = await run
    assert outcome.error == "the process that watches over the command was killed"
    await seen(lambda: not processes(sleep))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_signal_to_the_supervisor_ends_everything(tmp_path, number):
    sleep = marked_sleep()
    run = asyncio.create_task(shell(f"setsid {sleep} & {sleep}", tmp_path, timeout=60))
    await seen(lambda: len(sleepers(sleep)) == 2)
    supervisor = supervisor_of(sleep)
    supervisor.send_signal(number)
    assert (await run).error == "killed by signal 9 (SIGKILL)"
    assert processes(sleep) == []


async def test_stopped_supervisor_holds_up_nobody(tmp_path):
    sleep = marked_sleep()
    run = asyncio.create_task(shell(f"{sleep} & {sleep}", tmp_path, timeout=1))
    await seen(lambda: len(sleepers(sleep)) == 2)
    supervisor = supervisor_of(sleep)
    supervisor.suspend()
    outcome = await run
    assert "time limit" in outcome.error
    await seen(lambda: not processes(sleep))
    assert not psutil.pid_exists(supervisor.pid)
