"""REST is what its description says: Schemathesis tries it all on a served site."""

import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from coordination.models import ApiToken
from coordination.services import tokens
from tests.serving import Site, serving

CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance",
          "response_schema_conformance", "response_headers_conformance",
          "negative_data_rejection", "unsupported_method")  # fmt: skip
EVERY_OPERATION = {"400", "401", "403", "503"}


def make_token(username: str) -> str:
    """Return the key of a new token of a person; run by a scribe."""
    return tokens.create_token(
        token=ApiToken(user=User.objects.get(username=username), name="schemathesis")
    )


@pytest.fixture
def site(migrated_file: Path, tmp_path: Path) -> Iterator[Site]:
    """A served site with the demo's plans and questions."""
    for served in serving(migrated_file, tmp_path):
        served.scribe("plans.services.demo.create_demo")
        yield served


def test_no_request_ends_in_500_nor_in_an_answer_that_is_not_described(site: Site, tmp_path: Path):
    session = site.scribe("sign_in", username="admin")
    wanted = urllib.request.Request(
        f"{site.url}/api/openapi.json", headers={"Cookie": f"handoff_session={session}"}
    )
    description = tmp_path / "openapi.json"
    with urllib.request.urlopen(wanted) as answer:
        # Texts one character too long take half the time: `test_api_errors` has one of those.
        description.write_bytes(answer.read().replace(b'"maxLength": 100000', b'"x-long": true'))
    key = site.scribe("tests.handoff_site.test_openapi.make_token", username="admin")
    tried = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "run", description, "--url", site.url,
         "--header", f"Authorization: Bearer {key}", "--checks", ",".join(CHECKS),
         "--max-examples", "5", "--generation-deterministic", "--continue-on-failure",
         "--no-color"],
        cwd=tmp_path, capture_output=True, text=True, timeout=110,
    )  # fmt: skip
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert "20 selected / 20 total" in tried.stdout


def test_each_operation_describes_every_refusal_in_one_shape(admin_client: Client):
    description = admin_client.get("/api/openapi.json").json()
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            refusals = {s: a for s, a in operation["responses"].items() if int(s) >= 400}
            assert refusals.keys() >= EVERY_OPERATION, (method, path)
            assert ("404" in refusals) == ("{" in path), (method, path)
            assert ("415" in refusals) == ("requestBody" in operation), (method, path)
            for answer in refusals.values():
                shape = answer["content"]["application/json"]["schema"]["$ref"]
                assert shape.endswith(("/Refusal", "/InvalidValue"))


@pytest.mark.parametrize(
    ("method", "headers", "status", "code", "sentence"),
    [
        ("PUT", {}, 405, "method_not_allowed",
         "PUT n'est pas pour cette adresse, qui prend GET, POST."),
        ("GET", {"Host": "elsewhere.example"}, 400, "bad_request",
         "Cette demande est illisible : refusée."),
        ("GET", {"Origin": "http://elsewhere.example"}, 403, "forbidden",
         "Cette demande vient d'un autre site (http://elsewhere.example) : refusée."),
    ],
)  # fmt: skip
def test_what_reaches_no_operation_is_refused_in_json(
    admin_client: Client, method: str, headers: dict[str, str], status: int, code: str, sentence
):
    answer = admin_client.generic(method, "/api/plans", headers=headers)
    assert answer.status_code == status
    assert answer.json() == {"code": code, "message": sentence}
    assert answer["Content-Type"] == "application/json"
    assert int(answer.get("Content-Length", len(answer.content))) == len(answer.content)


def test_a_thousand_filters_are_refused_and_no_fault_of_ours(admin_client: Client):
    answer = admin_client.get("/api/messages?" + "&".join(["status=open"] * 1001))
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")


def test_a_page_keeps_its_own_refusals(admin_client: Client):
    assert admin_client.get("/nothing/")["Content-Type"].startswith("text/html")
