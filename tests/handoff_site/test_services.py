"""The site on PostgreSQL and Redis, for those who run them already."""

import os
import time
import uuid
from collections.abc import Callable, Iterator

import httpx
import psycopg
import pytest
import redis
import websockets.sync.client

from tests.conftest import skip_or_fail, wait_until
from tests.handoff_site.conftest import Served

pytestmark = pytest.mark.services

POSTGRES = os.environ.get("POSTGRES_URL", "postgres://root@127.0.0.1:5432/test")
REDIS = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/9")


@pytest.fixture
def postgres() -> Iterator[str]:
    """The address of a database of this test's own."""
    name = f"handoff_{uuid.uuid4().hex}"
    try:
        server = psycopg.connect(POSTGRES, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError as error:
        skip_or_fail(f"no PostgreSQL: {error}")
    with server:
        server.execute(f'CREATE DATABASE "{name}"')
        yield POSTGRES.rsplit("/", 1)[0] + f"/{name}"
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def test_a_site_on_postgresql_outlives_a_restart_of_its_connections(
    serve: Callable[..., Served], postgres: str
):
    served = serve(DATABASE_URL=postgres).ready()
    with httpx.Client(base_url=served.site, follow_redirects=True) as client:
        assert client.get(served.link).status_code == 200
        assert client.get("/api/backends").json()[0]["key"] == "panel"
        with psycopg.connect(postgres, autocommit=True) as killer:
            killer.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert client.get("/api/backends").status_code == 200
    served.stop()


def test_a_question_reaches_the_socket_through_postgresql_and_redis(
    serve: Callable[..., Served], postgres: str
):
    try:
        redis.Redis.from_url(REDIS, socket_connect_timeout=3).ping()
    except redis.RedisError as error:
        skip_or_fail(f"no Redis: {error}")
    served = serve(DATABASE_URL=postgres, REDIS_URL=REDIS).ready()
    with httpx.Client(base_url=served.site, follow_redirects=True) as client:
        client.get(served.link)
        cookie = f"handoff_session={client.cookies['handoff_session']}"
        with websockets.sync.client.connect(
            f"ws://127.0.0.1:{served.port}/ws/board",
            additional_headers={"Cookie": cookie, "Origin": served.site},
        ) as board:
            board.recv(timeout=10)
            asked = client.post(
                "/api/messages",
                json={"subject": "s", "body": "b"},
                headers={"X-CSRFToken": client.cookies["handoff_csrf"]},
            )
            assert asked.status_code == 201
            begun = time.monotonic()
            wait_until(lambda: "questions" in board.recv(timeout=5), what="the change")
            assert time.monotonic() - begun < 3
    served.stop()
