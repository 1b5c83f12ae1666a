"""/healthz tells a proxy or a supervisor whether this process can serve, and nothing else."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from coordination.models import Event
from coordination.selectors import migrations
from handoff_site import health
from handoff_site.board.hub import hub
from tests.databases import rows
from tests.handoff_site.conftest import Served

pytestmark = pytest.mark.django_db


@pytest.fixture
def tail(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A feed that has told every event so far."""
    fake = SimpleNamespace(
        last_id=0, is_alive=lambda: True, ready=SimpleNamespace(is_set=lambda: True)
    )
    monkeypatch.setattr(hub(), "tail", fake)
    return fake


def event(age: float) -> Event:
    at = timezone.now() - dt.timedelta(seconds=age)
    return Event.objects.create(at=at, actor="panel", verb="asked", subject="message:1")


def test_a_healthy_process_answers_200_without_a_sign_in(client: Client) -> None:
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {
        "ok": True,
        "database": True,
        "migrations": True,
        "feed": True,
        "feed_lag_seconds": 0.0,
    }
    assert "no-store" in answer["Cache-Control"]


def test_it_costs_three_reads_and_opens_no_session(
    client: Client, tail: SimpleNamespace, django_assert_max_num_queries
) -> None:
    migrations.known_migrations()
    with django_assert_max_num_queries(3):
        answer = client.get("/healthz")
    assert not answer.cookies


def test_a_database_that_is_away_answers_503_without_its_words(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> set:
        raise OperationalError("connection to server at 10.1.2.3 failed for user secret")

    monkeypatch.setattr(health, "applied_migrations", away)
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["database"] is False
    assert "secret" not in answer.text
    assert "10.1.2.3" not in answer.text


def test_a_missing_migration_answers_503(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = migrations.known_migrations() | {("coordination", "9999_newer")}
    monkeypatch.setattr(migrations, "known_migrations", lambda: newer)
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["migrations"] is False


def test_an_event_not_told_for_long_answers_503(client: Client, tail: SimpleNamespace) -> None:
    event(age=health.LAG_MAX_SECONDS + 5)
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["feed"] is False
    assert answer.json()["feed_lag_seconds"] > health.LAG_MAX_SECONDS


def test_an_event_told_or_just_written_is_no_lag(client: Client, tail: SimpleNamespace) -> None:
    tail.last_id = event(age=3600).pk
    event(age=0.5)
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert 0.5 <= answer.json()["feed_lag_seconds"] < health.LAG_MAX_SECONDS


def test_a_feed_that_ended_answers_503(client: Client, tail: SimpleNamespace) -> None:
    tail.is_alive = lambda: False
    assert client.get("/healthz").status_code == 503


def test_a_foreign_host_is_refused_here_too(client: Client) -> None:
    assert client.get("/healthz", headers={"host": "evil.example"}).status_code == 400


def test_writing_to_it_is_refused(client: Client) -> None:
    assert client.post("/healthz").status_code == 405


def test_a_served_site_says_when_its_schema_falls_behind(serve, database_file: Path) -> None:
    served: Served = serve().ready()
    assert httpx.get(f"{served.site}/healthz").status_code == 200
    rows(database_file, "DELETE FROM django_migrations WHERE app = 'plans'")
    answer = httpx.get(f"{served.site}/healthz")
    assert answer.status_code == 503
    assert answer.json()["migrations"] is False
