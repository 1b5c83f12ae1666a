"""Files that are there whole or not at all, whatever happens to the process that writes them."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from django.utils.translation import gettext as _

from coordination.errors import Conflict

COMPANIONS = ("-journal", "-wal", "-shm")
"""What SQLite keeps beside a file."""


@contextlib.contextmanager
def written_whole(destination: Path) -> Iterator[Path]:
    """Yield an empty file to fill; it gets its name, on the disk for good, when the block ends.

    The file beside it, NAME.partial, is locked by whoever writes it. A process killed halfway
    leaves only that, and the next backup to the same place begins it anew.

    Raises:
        Conflict: the destination exists, is being written, or cannot be.
    """
    partial = destination.with_name(f"{destination.name}.partial")
    try:
        with _locked(partial):
            try:
                _refuse_existing(destination)
                yield partial
                _flush(partial)
                _name(partial, destination)
            finally:
                for name in ("", *COMPANIONS):
                    Path(f"{partial}{name}").unlink(missing_ok=True)
        _flush(destination.parent)
    except OSError as error:
        raise Conflict(
            _("{path} cannot be written: {reason}.").format(
                path=destination, reason=error.strerror or error
            )
        ) from error


@contextlib.contextmanager
def _locked(partial: Path) -> Iterator[None]:
    """Hold the file's lock, which ends with the process, and empty the file."""
    # It holds everybody's words and the hashes of their passwords: for its owner alone.
    descriptor = os.open(partial, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, 0)
        yield
    except BlockingIOError:
        raise Conflict(
            _("another backup is being written to {path}; wait for it.").format(path=partial)
        ) from None
    finally:
        os.close(descriptor)


def _name(partial: Path, destination: Path) -> None:
    """Give the file its name: a link, unlike a renaming, never replaces what is there."""
    try:
        destination.hardlink_to(partial)
    except OSError:
        _refuse_existing(destination)
        partial.rename(destination)  # a file system without links


def _refuse_existing(destination: Path) -> None:
    if destination.exists() or destination.is_symlink():
        raise Conflict(
            _("{path} exists already: choose another name, or move it away.").format(
                path=destination
            )
        )


def _flush(path: Path) -> None:
    """Have the disk hold a file, or a folder's names, before going on."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
