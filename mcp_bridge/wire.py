"""Keep standard input and output to the protocol, from the very start of the process.

Imported by manage.py before Django and its settings, so it imports next to nothing.
"""

import fcntl
import os
import signal
import sys
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Wire:
    """The client's two pipes, and the process that was our parent when we took them."""

    input: int
    output: int
    parent: int


@cache
def claim() -> Wire:
    """Take both pipes away from everything else in this process and its children.

    From here on a read of fd 0 finds its end, and whatever is printed on fd 1 (by settings, a
    library or a child process) goes to stderr. A signal that comes before anything is served
    ends the process as one that comes later does: with status 0.
    """
    wire = Wire(_private(0), _private(1), os.getppid())
    _point(0, os.open(os.devnull, os.O_RDONLY))
    if sys.stderr is None:  # started without one
        _point(2, os.open(os.devnull, os.O_WRONLY))
        sys.stderr = os.fdopen(2, "w", closefd=False)
    _point(1, os.dup(2))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    return wire


def _private(fd: int) -> int:
    """Duplicate `fd` out of reach of children; one that is closed reads and writes nothing."""
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    except OSError:
        return os.open(os.devnull, os.O_RDWR)


def _point(fd: int, at: int) -> None:
    """Make `fd` the same as `at`."""
    if at != fd:
        os.dup2(at, fd)
        os.close(at)
