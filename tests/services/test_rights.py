"""A role that may not make extensions: search works, and a check says what is missing."""

import subprocess
import sys
from urllib.parse import urlsplit

import psycopg
import pytest

from bench.database import named, on_server
from tests.conftest import PROJECT, clean_environment
from tests.databases import rows
from tests.services.cluster import Cluster

pytestmark = pytest.mark.services


@pytest.fixture
def guest(cluster: Cluster, tmp_path):
    """A new database in which the role `guest` may make tables only."""
    with on_server(cluster.url, tmp_path) as path:
        with psycopg.connect(path.read_text(), autocommit=True) as owner:
            owner.execute("DROP ROLE IF EXISTS guest")
            owner.execute("CREATE ROLE guest LOGIN")
            owner.execute("GRANT CREATE ON SCHEMA public TO guest")
        url = urlsplit(path.read_text())
        folder = tmp_path / "guest"
        folder.mkdir()
        yield path, named(folder, url._replace(netloc=f"guest@127.0.0.1:{url.port}").geturl())


def manage(database, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, PROJECT / "manage.py", *arguments],
        env=clean_environment(
            MCP_HANDOFF_DB=str(database),
            HANDOFF_DATA_DIR=str(database.parent),
            HANDOFF_LANGUAGE="en",
        ),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_search_works_without_the_extension_and_its_cure_is_the_one_that_is_named(guest, start):
    owner, database = guest
    assert "search has no index" in manage(database, "migrate", "-v0")
    agent = start("panel", database)
    agent.call("mf_ask", to="app", subject="Quel port ?", body="b")
    assert "Quel port" in agent.call("mf_history", subject_contains="PORT").text
    said = manage(database, "check", "--database", "default")
    assert "Search has no index" in said
    for statement in said.split("run: ")[1].split("\n")[0].split(";")[:2]:
        rows(owner, statement)
    assert "Search has no index" not in manage(database, "check", "--database", "default")
    assert "Quel port" in agent.call("mf_history", subject_contains="PORT").text
