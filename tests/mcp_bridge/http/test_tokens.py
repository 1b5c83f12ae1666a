"""Who comes in: a live agent token, into its own session, and nowhere else."""

import json
import urllib.request

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from tests.mcp_bridge.http.conftest import (
    MINTING,
    MODERN,
    asked,
    connected,
    initialize,
    said,
)

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def sentence(answer) -> str:
    return answer.json()["error"]["message"]


def test_without_a_token_one_is_told_what_to_send(site):
    for headers in ({}, {"Authorization": "Basic abc"}, {"Authorization": "Bearer"}):
        answer = asked(site.url, "", initialize(), **headers)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="handoff"'
        assert "Authorization: Bearer" in sentence(answer)


def test_dead_wrong_and_peoples_tokens_are_refused_in_a_sentence(site, mint):
    dead = mint()
    site.scribe(f"{MINTING}.revoke", key=dead)
    late = mint()
    site.scribe(f"{MINTING}.expire", key=late)
    theirs = site.scribe(f"{MINTING}.mint_for_person", username="ada")
    for key in (dead, late, theirs, "hda_" + "x" * 43, "hda_", mint()[:-1]):
        answer = asked(site.url, key, initialize())
        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
        assert "révoqué" in sentence(answer)


@pytest.mark.parametrize("mode", ["legacy", MODERN])
@pytest.mark.parametrize("end", ["revoke", "expire"])
async def test_a_token_that_dies_ends_an_open_session_at_once(site, mint, mode, end):
    key = mint()
    with anyio.fail_after(30):
        async with connected(site, key, mode=mode) as client:
            assert "panel" in await said(client, "mf_inbox")
            await anyio.to_thread.run_sync(lambda: site.scribe(f"{MINTING}.{end}", key=key))
            with pytest.raises(MCPError, match="révoqué"):
                await client.call_tool("mf_inbox", {})


def test_an_mcp_session_belongs_to_the_token_that_opened_it(site, mint):
    opened = asked(site.url, mint("panel"), initialize())
    session = {"Mcp_Session_Id": opened.headers["mcp-session-id"]}
    for other in (mint("panel"), mint("app")):
        assert asked(site.url, other, PING, **session).status_code == 404


def test_an_agents_token_opens_nothing_of_the_peoples(site, mint):
    key = mint()
    _plan, (step,) = site.scribe.plan("panel", "P", "Étape", validation_mode="manual")
    site.scribe.promote("panel")
    calls = [
        ("GET", "/api/board", None),
        ("POST", f"/api/tasks/{step}/action", {"action": "skip"}),
        ("POST", f"/api/tasks/{step}/action", {"action": "validate-manual"}),
        ("POST", "/api/messages", {"subject": "s", "body": "b"}),
    ]
    for method, path, body in calls:
        assert status(site, method, path, body, key) in (401, 403), path
    for path in ("/", "/admin/", "/admin/coordination/agenttoken/add/"):
        assert "/sign-in/" in final_address(site, path, key)
    assert site.scribe(f"{MINTING}.task", task_id=step)["status"] == "current"


def status(site, method, path, body, key) -> int:
    request = urllib.request.Request(
        site.url + path,
        method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


def final_address(site, path, key) -> str:
    request = urllib.request.Request(site.url + path, headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=20) as response:
        return response.url


def test_no_tool_moves_a_step_as_a_human_would(site, mint):
    """An agent submits; only people validate."""
    _plan, (step,) = site.scribe.plan("app", "P", "Étape", validation_mode="manual")

    async def work():
        async with connected(site, mint("app")) as client:
            assert f"#{step}" in await said(client, "mf_next_step")
            assert "validation humaine" in await said(client, "mf_validate_step", task_id=step)
            assert "Erreur" in await said(client, "mf_validate_step", task_id=step)

    anyio.run(work)
    assert site.scribe(f"{MINTING}.task", task_id=step)["status"] == "awaiting_human"
