"""What is refused before a message is read: other sites, other names, too much, too often."""

import json

import httpx2
import pytest

from mcp_bridge.http.application import BODY_MAX
from mcp_bridge.http.pace import Pace
from tests.mcp_bridge.http.conftest import JSON, asked, initialize

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "a b"])
def test_a_foreign_host_is_refused(site, panel, host):
    answer = asked(site.url, panel, initialize(), Host=host)
    assert answer.status_code == 400
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize(
    "origin",
    ["null", "http://evil.example", "http://127.0.0.1.evil.example", "http://127.0.0.1:1", ""],
)
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_a_foreign_origin_is_refused_on_every_method(site, panel, origin, method):
    headers = JSON | {"Origin": origin, "Authorization": f"Bearer {panel}"}
    with httpx2.Client(trust_env=False) as client:
        answer = client.request(method, f"{site.url}/mcp", headers=headers, json=initialize())
    assert answer.status_code == 403
    assert "refus" in answer.json()["error"]["message"]


def test_ones_own_origin_and_no_origin_pass(site, panel):
    assert asked(site.url, panel, initialize(), Origin=site.url).status_code == 200
    assert asked(site.url, panel, initialize()).status_code == 200


def test_the_address_is_the_agents_with_and_without_a_slash(site, panel):
    headers = JSON | {"Authorization": f"Bearer {panel}"}
    with httpx2.Client(trust_env=False) as client:
        assert client.post(f"{site.url}/mcp/", headers=headers, json=initialize()).is_success
        assert client.post(f"{site.url}/mcp/x", headers=headers, json=initialize()).status_code in (
            403,
            404,
        )


def test_a_message_past_the_limit_is_refused_whether_or_not_it_says_so(site, panel):
    body = json.dumps(PING | {"params": {"x": "é" * (BODY_MAX // 2)}}, ensure_ascii=False).encode()
    answer = asked(site.url, panel, body)
    assert answer.status_code == 413
    assert str(BODY_MAX) in answer.json()["error"]["message"]

    def pieces():
        for start in range(0, len(body), 65536):
            yield body[start : start + 65536]

    headers = JSON | {"Authorization": f"Bearer {panel}"}
    with httpx2.Client(trust_env=False, timeout=30) as client:
        answer = client.post(f"{site.url}/mcp", headers=headers, content=pieces())
    assert answer.status_code == 413


def test_a_body_of_the_largest_size_passes_escaped(site, panel):
    call = {"name": "mf_broadcast", "arguments": {"subject": "s", "body": "😀" * 99_000}}
    session = asked(site.url, panel, initialize()).headers["mcp-session-id"]
    answer = asked(
        site.url,
        panel,
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}).encode(),
        Mcp_Session_Id=session,
    )
    assert "isError" not in answer.text.replace('"isError":false', "")


def test_what_is_no_message_gets_a_protocol_error(site, panel):
    for body in (b"", b"{", b"[]", b"1" * 5000, b"[" * 300 + b"]" * 300, b"\xff", b"null"):
        for version in ("2025-11-25", "2026-07-28", "1999-01-01"):
            answer = asked(site.url, panel, body, MCP_Protocol_Version=version)
            assert 400 <= answer.status_code < 500
            assert answer.json()["error"]["code"] < 0


def test_a_token_that_sends_too_much_is_slowed_down():
    now = [0.0]
    pace = Pace(per_second=2, burst=3, clock=lambda: now[0])
    assert [pace.admit(1) for _ in range(4)] == [0, 0, 0, 0.5]
    assert pace.admit(2) == 0  # another token has its own pace
    now[0] += 0.5
    assert pace.admit(1) == 0
    assert pace.admit(1) == 0.5
    now[0] += 60
    assert [pace.admit(1) for _ in range(4)] == [0, 0, 0, 0.5]


def test_only_buckets_that_are_full_again_are_forgotten(monkeypatch):
    monkeypatch.setattr("mcp_bridge.http.pace.KEPT", 2)
    now = [0.0]
    pace = Pace(per_second=1, burst=2, clock=lambda: now[0])
    assert [pace.admit(1), pace.admit(1)] == [0, 0]
    now[0] += 1
    pace.admit(2)
    pace.admit(3)
    assert [pace.admit(1), pace.admit(1)] == [0, 1]
