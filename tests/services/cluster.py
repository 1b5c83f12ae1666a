"""A PostgreSQL server of the tests' own: started, stopped, killed as a test needs it.

`python -m tests.services.cluster COMMAND…` runs a command with DATABASE_URL set to a fresh one,
which writes nothing through to the disk and so empties tables ten times as fast.
"""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg

from tests.conftest import skip_or_fail, wait_until
from tests.serving import free_port

OPTIONS = {
    # What docs/operations.md says: a million messages and their index fit.
    "shared_buffers": "512MB",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "full_page_writes": "off",
    "jit": "off",
}


def binary(name: str) -> Path | None:
    """Return one of the server's programs, which Debian keeps out of the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    on_path = shutil.which(name)
    return found[-1] if found else Path(on_path) if on_path else None


class Cluster:
    """One server on a free port, run by a user who is not root: it refuses root."""

    def __init__(self, folder: Path) -> None:
        self.user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        self.folder = folder
        self.port = free_port()
        self.url = f"postgresql://handoff@127.0.0.1:{self.port}/postgres"
        if os.geteuid() == 0:
            shutil.chown(folder, self.user)
        self._run("initdb", "-D", str(folder / "data"), "-U", "handoff", "-A", "trust",
                  "-E", "UTF8", "--locale=C.UTF-8", "--no-sync").wait(60)  # fmt: skip
        self.start()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = [f"-c{name}={value}" for name, value in (OPTIONS | {"port": self.port}).items()]
        self.process = self._run("postgres", "-D", str(self.folder / "data"), *options)
        wait_until(self.answers, seconds=30, what="PostgreSQL answers")

    def answers(self) -> bool:
        """Tell whether the server takes connections."""
        assert self.process.poll() is None, (self.folder / "log").read_text()
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(self.url, connect_timeout=2).close()
            return True
        return False

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server: SIGINT disconnects everyone, SIGQUIT is as good as a crash."""
        self.process.send_signal(how)
        self.process.wait(30)

    def _run(self, name: str, *arguments: str) -> "subprocess.Popen[bytes]":
        program = binary(name)
        if program is None:
            skip_or_fail("needs PostgreSQL's server (Debian's package postgresql)")
        with (self.folder / "log").open("a") as log:
            return subprocess.Popen(
                [program, *arguments],
                user=self.user if os.geteuid() == 0 else None,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )


@contextlib.contextmanager
def running_cluster() -> Iterator[Cluster]:
    """Yield a server of one's own; nothing is left of it."""
    with tempfile.TemporaryDirectory(prefix="handoff-pg-", ignore_cleanup_errors=True) as folder:
        cluster = Cluster(Path(folder))
        try:
            yield cluster
        finally:
            if cluster.process.poll() is None:
                cluster.stop(signal.SIGQUIT)


def main() -> int:
    """Run the command that was given against a fresh server, which ends with us."""
    signal.signal(signal.SIGTERM, lambda *_received: sys.exit(143))
    with running_cluster() as cluster:
        return subprocess.run(
            sys.argv[1:], env=os.environ | {"DATABASE_URL": cluster.url}, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
