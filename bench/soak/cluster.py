"""A PostgreSQL cluster of our own, which may be killed."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from tests.conftest import wait_until
from tests.serving import free_port


class Cluster:
    """Its server, on a free port of this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"postgresql://handoff@127.0.0.1:{self.port}/postgres"
        self.process: subprocess.Popen[bytes] | None = None
        program(
            "initdb",
            "--pgdata",
            str(folder / "data"),
            "--username=handoff",
            "--auth=trust",
            "--encoding=UTF8",
            "--no-instructions",
            "--data-checksums",
        ).wait(60)

    def start(self) -> None:
        """Start it and wait until it answers: after a kill it recovers first."""
        self.process = program(
            "postgres",
            "-D",
            str(self.folder / "data"),
            "-p",
            str(self.port),
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            f"unix_socket_directories={self.folder}",
            "-c",
            "max_connections=200",
            "-c",
            "log_min_messages=fatal",
        )
        wait_until(self._answers, seconds=60, what="PostgreSQL answers")

    def kill(self) -> None:
        """End every process of it at once."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def _answers(self) -> bool:
        with contextlib.suppress(psycopg.Error):
            psycopg.connect(self.url, connect_timeout=2).close()
            return True
        return False


@contextlib.contextmanager
def own_cluster() -> Iterator[Cluster]:
    """Yield a running cluster; nothing of it is left at the end."""
    with tempfile.TemporaryDirectory(prefix="handoff-cluster-") as name:
        if os.geteuid() == 0:
            shutil.chown(name, "postgres", "postgres")
        cluster = Cluster(Path(name))
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.kill()


def program(name: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start one of the server's programs, which refuse to run as root, in a group of its own."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = shutil.which(name, path=os.pathsep.join([*map(str, folders), os.environ["PATH"]]))
    if path is None:
        raise SystemExit(f"{name} is not installed (Debian: postgresql)")
    options: dict[str, Any] = {}
    if os.geteuid() == 0:
        account = pwd.getpwnam("postgres")
        options = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    # Its log tells of every call that comes too early after a kill.
    return subprocess.Popen(
        [path, *arguments],
        cwd="/",
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **options,
    )
