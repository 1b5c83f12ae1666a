"""What the runner's tests share: running a rule, and looking for what it left behind."""

import asyncio
import contextlib
import itertools
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psutil
from django.utils.translation import override

from plans.rules import ShellRule, parse_rule
from plans.runner.artifact import run_artifact
from plans.runner.outcome import Outcome
from plans.runner.shell import run_shell
from tests.conftest import PROJECT, clean_environment

_seconds = itertools.count(100_000 + os.getpid() * 100)


def marked_sleep() -> str:
    """A `sleep` for a day or more whose duration no other process has."""
    return f"sleep {next(_seconds)}"


def processes(command: str) -> list[psutil.Process]:
    """The running processes whose command line holds `command`."""
    return [process for process, words in _running() if command in " ".join(words)]


def sleepers(command: str) -> list[psutil.Process]:
    """The same, without the shells and supervisors that only mention it."""
    return [process for process, words in _running() if " ".join(words) == command]


def supervisor_of(command: str) -> psutil.Process:
    """The process between the runner and a command that has started."""
    [found] = [
        process for process, words in _running() if words[1:2] == ["-I"] and command in words[-1]
    ]
    return found


def _running() -> Iterator[tuple[psutil.Process, list[str]]]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.NoSuchProcess):  # a zombie is one, too
            yield process, process.cmdline()


async def seen(condition, *, seconds: float = 10):
    """Wait in a coroutine for a condition's first true value."""
    async with asyncio.timeout(seconds):
        while not (value := condition()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return value


async def shell(cmd: str, cwd: Path, timeout: int = 20) -> Outcome:  # noqa: ASYNC109
    with override("en"):
        return await run_shell(ShellRule(cmd=cmd, timeout=timeout), cwd)


async def check(cwd: Path, *rules: dict) -> Outcome:
    with override("en"):
        return await run_artifact(parse_rule("artifact", list(rules)), cwd)


def python(code: str, **environment: str) -> subprocess.Popen:
    """Start a process of our own that may be killed: `code`, with Django set up."""
    setup = f"""
        import sys, asyncio
        sys.path.insert(0, {str(PROJECT)!r})
        import django
        django.setup()
    """
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(setup) + textwrap.dedent(code)],
        env=clean_environment(DJANGO_SETTINGS_MODULE="handoff_site.settings", HANDOFF_ROLE="agent")
        | environment,
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
