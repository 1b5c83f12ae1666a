"""/metrics: true figures with few labels, for this machine or for the holder of the token."""

import httpx
import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from coordination.actors import Actor
from coordination.services.messages import ask
from handoff_site.metrics import AREAS, area_of
from tests.handoff_site.conftest import Served

pytestmark = pytest.mark.django_db


def samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_database_s_figures_follow_it(client: Client) -> None:
    before = samples(client.get("/metrics").text)
    ask(actor=Actor.agent("panel"), to="app", subject="s", body="b")
    after = samples(client.get("/metrics").text)
    assert after["handoff_questions_open", ()] == before["handoff_questions_open", ()] + 1
    assert after["handoff_events_total", ()] > before["handoff_events_total", ()]
    assert after["handoff_up", ()] == after["handoff_database_up", ()] == 1
    assert after["handoff_sessions", ("stale",)] == 2
    assert after["handoff_steps", ("awaiting_human",)] == 0
    assert after["process_resident_memory_bytes", ()] > 1_000_000


def test_who_is_not_on_this_machine_is_refused(client: Client) -> None:
    assert client.get("/metrics", REMOTE_ADDR="192.0.2.7").status_code == 403


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Real-Ip", "Forwarded"])
def test_what_a_proxy_on_this_machine_sends_on_is_refused(client: Client, header: str) -> None:
    assert client.get("/metrics", headers={header: "127.0.0.1"}).status_code == 403


def test_the_token_opens_it_from_anywhere_and_nothing_else_does(client: Client, settings) -> None:
    settings.METRICS_TOKEN = "right"
    far = {"REMOTE_ADDR": "192.0.2.7"}
    right = {"authorization": "Bearer right"}
    assert client.get("/metrics", headers=right, **far).status_code == 200
    assert client.get("/metrics").status_code == 403
    for wrong in ("Bearer wrong", "right", "Bearer ", "Bearer rïght"):
        refused = client.get("/metrics", headers={"authorization": wrong})
        assert refused.status_code == 403 or wrong == "right"


def test_addresses_fall_into_few_areas() -> None:
    assert area_of("/") == "board"
    assert area_of("/api/plans/12") == "api"
    assert area_of("/ws/x") == area_of("/" + "x" * 5000) == area_of("//etc") == "other"
    assert all(area_of(f"/{area}/") == area for area in AREAS)


def test_a_served_site_counts_its_requests(serve) -> None:
    served: Served = serve().ready()
    with httpx.Client(base_url=served.site) as client:
        client.get("/nowhere")
        client.get("/sign-in/")
        client.request("BREW", "/sign-in/")
        found = samples(client.get("/metrics").text)
    assert found["handoff_http_requests_total", ("other", "GET", "4xx")] == 1
    assert found["handoff_http_requests_total", ("other", "GET", "2xx")] == 1
    assert found["handoff_http_requests_total", ("other", "other", "4xx")] == 1
    assert found["handoff_http_response_start_seconds_count", ("other",)] == 3
    assert found["handoff_board_sockets", ()] == 0
