"""Run a shell rule and say how it ended."""

import asyncio
import contextlib
import signal
from pathlib import Path

from django.utils.translation import gettext as _

from plans.rules import ShellRule
from plans.runner.command import Command
from plans.runner.outcome import Outcome
from plans.runner.output import Output

LAST_LINE_MAX = 200
"""Characters of the output that a failure's sentence quotes."""


async def run_shell(rule: ShellRule, cwd: Path) -> Outcome:
    """Run the command in `cwd`; a cancellation waits until all its processes are gone."""
    try:
        command = Command(rule.cmd, cwd)
    except (OSError, ValueError) as error:
        return Outcome(False, "", could_not_start(str(error)))
    stop = asyncio.Event()
    run = asyncio.ensure_future(command.run(rule.timeout, stop))
    try:
        word, value = await asyncio.shield(run)
    except asyncio.CancelledError:
        stop.set()
        while not run.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({run})
        raise
    return _outcome(word, value, command.output)


def _outcome(word: str, value: str, output: Output) -> Outcome:
    sentence = _sentence(word, value)
    evidence = f"{sentence}\n{output.text()}".rstrip()
    if (word, value) == ("exit", "0"):
        return Outcome(True, evidence)
    line = output.last_line(LAST_LINE_MAX)
    return Outcome(False, evidence, f"{sentence}: {line}" if line else sentence)


def _sentence(word: str, value: str) -> str:
    match word:
        case "exit":
            return _exit_sentence(int(value))
        case "signal":
            return _("killed by signal {signal}").format(signal=signal_name(int(value)))
        case "limit":
            return _("time limit of {seconds} s reached (timeout)").format(seconds=value)
        case "failed":
            return could_not_start(value)
        case "stuck":
            return _("the command was killed and does not end")
        case _:
            return _("the process that watches over the command was killed")


def _exit_sentence(status: int) -> str:
    if 128 < status <= 128 + signal.NSIG:  # how a shell passes on that a signal ended a part
        return _("exit status {status}, after signal {signal}").format(
            status=status, signal=signal_name(status - 128)
        )
    return _("exit status {status}").format(status=status)


def could_not_start(why: str) -> str:
    """Say that the shell itself did not run."""
    return _("the command could not be started: {why}").format(why=why)


def signal_name(number: int) -> str:
    """Return a signal as `9 (SIGKILL)`; real-time ones have a number only."""
    with contextlib.suppress(ValueError):
        return f"{number} ({signal.Signals(number).name})"
    return str(number)
