"""A PostgreSQL server that tests may stop, and PgBouncer in front of it."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from bench.agent import Agent
from bench.database import named, on_server
from tests.conftest import PROJECT, clean_environment, skip_or_fail, wait_until
from tests.services.cluster import Cluster, running_cluster
from tests.serving import free_port


@pytest.fixture(scope="package")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as started:
        yield started


@pytest.fixture(scope="package")
def template(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a migrated database."""
    with on_server(cluster.url, tmp_path_factory.mktemp("template")) as path:
        subprocess.run(
            [sys.executable, PROJECT / "manage.py", "migrate", "-v0"],
            env=clean_environment(MCP_HANDOFF_DB=str(path), HANDOFF_DATA_DIR=str(path.parent)),
            check=True,
            timeout=120,
        )
        yield urlsplit(path.read_text()).path.removeprefix("/")


@pytest.fixture
def server(cluster: Cluster, template: str, tmp_path: Path) -> Iterator[Path]:
    """A migrated database on the cluster; the cluster runs again at the end."""
    with on_server(cluster.url, tmp_path, template=template) as path:
        yield path
        if cluster.process.poll() is not None:
            cluster.start()


@pytest.fixture
def pooled(server: Path) -> Iterator[Path]:
    """The same database through PgBouncer in transaction mode, with three connections for all."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        skip_or_fail("needs PgBouncer (Debian's package pgbouncer)")
    url, port = urlsplit(server.read_text()), free_port()
    # Not below the tests' own folder: PgBouncer refuses to run as root, and nobody may look there.
    with tempfile.TemporaryDirectory(prefix="handoff-pgbouncer-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "pgbouncer.ini").write_text(
            f"[databases]\n{url.path[1:]} = user=handoff host=127.0.0.1 port={url.port}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
            "auth_type = any\npool_mode = transaction\ndefault_pool_size = 3\n"
        )
        process = subprocess.Popen(
            [program, folder / "pgbouncer.ini"],
            user="nobody" if os.geteuid() == 0 else None,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        path = named(folder, url._replace(netloc=f"handoff@127.0.0.1:{port}").geturl())
        try:
            wait_until(lambda: connects(path.read_text()), what="PgBouncer answers")
            yield path
        finally:
            process.terminate()
            process.wait(10)


def connects(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.fixture
def start() -> Iterator[Callable[..., Agent]]:
    """Start agents on a database; none survives the test."""
    agents: list[Agent] = []

    def start_agent(session: str, database: Path) -> Agent:
        agents.append(Agent(session, database=database, variables={"HANDOFF_LANGUAGE": "en"}))
        return agents[-1].initialize()

    yield start_agent
    for agent in agents:
        agent.kill()
