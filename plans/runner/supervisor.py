"""Stand between a validation runner and its command, so that nothing of it is ever left behind.

Run as `python -I -S supervisor.py PROGRAM ARGUMENT…`, standard library only:

- standard input is a pipe from the runner. A byte asks the command to end (SIGTERM to its group);
  end of file, which is also what a runner killed with -9 leaves, kills everything at once.
- standard output is passed to the command as both its outputs.
- standard error is a pipe to the runner: `group N` once the command runs, then `exit N`,
  `signal N` or, for one stuck in the kernel, `stuck 0`, written after all its processes are gone.

The command leads a session and a process group of its own. When it ends, what it left in the
background ends with it: otherwise a forgotten server would hold its port, and the pipe, for good.
On Linux processes that left the group (daemons) are found too, because this process is the one
that orphans among its descendants are given to, and the command dies with this process even if
that one is killed with -9. Elsewhere only the group is reached.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
from typing import NoReturn

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
PR_SET_CHILD_SUBREAPER = 36
KILL_SECONDS = 2.0
"""How long killed processes get to disappear: one stuck in the kernel must not hold the report."""
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


def prctl(option: int, value: int) -> None:
    """Set one of this process's attributes; elsewhere than on Linux there is none to set."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


class Command:
    """The command, the group it leads, and how it ended."""

    def __init__(self, arguments: list[str], report: int) -> None:
        self.status = -1  # as wait() gives it; -1 until then
        parent = os.getpid()
        self.pid = os.fork()
        if not self.pid:
            self._become(arguments, report, parent)

    def _become(self, arguments: list[str], report: int, parent: int) -> NoReturn:
        try:
            os.setsid()
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # it died before the line above could tell us
                os._exit(1)
            # What Python or the runner ignores, a command expects to act; a shell could not
            # even set a trap for it.
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            for number in (signal.SIGPIPE, signal.SIGXFSZ, *ENDING_SIGNALS):
                signal.signal(number, signal.SIG_DFL)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(1, 2)
            os.execv(arguments[0], arguments)  # noqa: S606
        except OSError as error:
            os.write(report, f"failed {error.strerror}\n".encode())
        finally:
            os._exit(127)

    def has_ended(self) -> bool:
        """Reap the orphans that were given to us; tell whether the command itself has ended.

        Where the system lets us, the command is not reaped here: while it waits to be, its id
        cannot be given to a stranger, and its group can be killed safely.
        """
        if not hasattr(os, "waitid"):  # macOS before Python 3.13, which gives us no orphans
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = status if pid else self.status
            return bool(pid)
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid == self.pid:
                return True
            os.waitpid(ended.si_pid, 0)
        return False

    def signal_group(self, number: int) -> None:
        """Signal every process of the group that is left."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def kill_all(self) -> None:
        """Kill the group, then every other descendant, and reap them all."""
        self.signal_group(signal.SIGKILL)
        deadline = time.monotonic() + KILL_SECONDS
        while time.monotonic() < deadline:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == self.pid:
                self.status = status
            elif not pid:
                for child in children():
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(child, signal.SIGKILL)
                time.sleep(0.002)

    def __str__(self) -> str:
        if self.status == -1:
            return "stuck 0"
        if os.WIFSIGNALED(self.status):
            return f"signal {os.WTERMSIG(self.status)}"
        return f"exit {os.WEXITSTATUS(self.status)}"


def children() -> list[int]:
    """List our children: beside the command, its descendants that have lost their parent."""
    try:
        # pathlib would double the time that this script takes to start.
        with open(f"/proc/self/task/{os.getpid()}/children") as file:  # noqa: PTH123
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def watch(command: Command) -> None:
    """Wait until the command has ended, the runner is gone, or a signal asks us to end."""
    wakeup, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    for number in (signal.SIGCHLD, *ENDING_SIGNALS):
        signal.signal(number, lambda *_: None)
    while not command.has_ended():
        ready, _, _ = select.select([0, wakeup], [], [])
        if 0 in ready:
            if not os.read(0, 1):
                return
            command.signal_group(signal.SIGTERM)
        if wakeup in ready and set(os.read(wakeup, 512)) & set(ENDING_SIGNALS):
            return


def main() -> NoReturn:
    """Run the command named by the arguments and report how it ended."""
    report = os.dup(2)  # unlike 2 itself, not inherited by the command
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    command = Command(sys.argv[1:], report)
    # The runner may be gone: then nobody is told, and the killing goes on all the same.
    with contextlib.suppress(BrokenPipeError):
        os.write(report, f"group {command.pid}\n".encode())
    watch(command)
    command.kill_all()
    with contextlib.suppress(BrokenPipeError):
        os.write(report, f"{command}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    main()
