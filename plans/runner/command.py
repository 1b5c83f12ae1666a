"""One command under its supervisor: started, read, timed, and surely ended."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, cast

from plans.runner.environment import command_environment
from plans.runner.output import Output

SUPERVISOR = Path(__file__).with_name("supervisor.py")
LIMIT_GRACE_SECONDS = 2.0
"""Between SIGTERM and SIGKILL for a command that has used up its time."""
CANCEL_GRACE_SECONDS = 0.5
"""The same for one that nobody waits for any more: the session may be about to end."""
KILL_SECONDS = 2.5
"""How long the supervisor gets to kill everything and say so."""
DRAIN_SECONDS = 1.0
"""How long to read on once all is over: what was printed last may still be in the pipe."""


class Command:
    """A shell command. Its `run` is ended by an event: cancelled, it could leave processes."""

    def __init__(self, text: str, cwd: Path) -> None:
        environment = command_environment()
        self.output = Output()
        self._report = Output()
        # Not asyncio's own kind of process: closed early, that one kills the supervisor itself.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", SUPERVISOR, *shell(environment["PATH"]), text],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=cwd,
            env=environment,
            # A signal meant for the runner's group must leave the supervisor to do its job.
            start_new_session=True,
        )
        self._stdin, self._stdout, self._stderr = (
            cast(IO[bytes], pipe)
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr)
        )

    async def run(self, limit: float, stop: asyncio.Event) -> tuple[str, str]:
        """Return how it ended: the supervisor's last word, or `limit` or `stop` if we ended it."""
        loop = asyncio.get_running_loop()
        pipes = [
            (await loop.connect_read_pipe(lambda: self.output, self._stdout))[0],
            (await loop.connect_read_pipe(lambda: self._report, self._stderr))[0],
        ]
        stopping = asyncio.ensure_future(stop.wait())
        ended = self._report.closed
        try:
            await asyncio.wait(
                {ended, stopping}, timeout=limit, return_when=asyncio.FIRST_COMPLETED
            )
            in_time = ended.done()
            if not in_time:
                await self._end(CANCEL_GRACE_SECONDS if stop.is_set() else LIMIT_GRACE_SECONDS)
            await self._reap()
            await asyncio.wait({self.output.closed}, timeout=DRAIN_SECONDS)
        finally:
            stopping.cancel()
            self._stdin.close()
            for pipe in pipes:
                pipe.close()
        if in_time:
            return self._last_word()
        return ("stop", "") if stop.is_set() else ("limit", f"{limit:g}")

    async def _end(self, grace: float) -> None:
        """Ask the command to end, then have it killed, then kill the supervisor too."""
        ask, kill = self._ask, self._stdin.close
        for act, seconds in ((ask, grace), (kill, KILL_SECONDS), (self._process.kill, 1.0)):
            act()
            await asyncio.wait({self._report.closed}, timeout=seconds)
            if self._report.closed.done():
                return

    def _ask(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._stdin.fileno(), b"T")

    async def _reap(self) -> None:
        """Wait for the supervisor, which has closed its report; kill what it did not kill."""
        if self._last_word()[0] == "group":  # somebody killed it: its group may live on
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(int(self._last_word()[1]), signal.SIGKILL)
        while self._process.poll() is None:  # noqa: ASYNC110 - nothing else would tell us
            await asyncio.sleep(0.002)

    def _last_word(self) -> tuple[str, str]:
        """Return the last line of the supervisor's report: `exit 0`, `signal 9`, `group 123`."""
        word, _, value = self._report.last_line(200).partition(" ")
        return word, value


def shell(path: str) -> list[str]:
    """Return how to run a line of shell, its pipes failing when any part does if that can be."""
    if bash := shutil.which("bash", path=path):
        return [bash, "-o", "pipefail", "-c"]
    return ["/bin/sh", "-c"]
