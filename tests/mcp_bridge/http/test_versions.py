"""Every protocol version is served over HTTP, with the same tools and texts as over stdio."""

import json

import anyio
import pytest

from bench.agent import Agent
from tests.mcp_bridge.http.conftest import (
    HANDSHAKES,
    MODERN,
    asked,
    connected,
    initialize,
    said,
)

BOTH = pytest.mark.parametrize("mode", ["legacy", MODERN])


@pytest.mark.parametrize("version", HANDSHAKES)
def test_every_handshake_version_is_served(site, panel, version):
    opened = asked(site.url, panel, initialize(version))
    result = json.loads(opened.text.partition("data: ")[2])["result"]
    assert result["protocolVersion"] == version
    assert "panel" in result["instructions"]
    assert result["capabilities"]["tools"] == {"listChanged": True}
    session = {"Mcp_Session_Id": opened.headers["mcp-session-id"], "MCP_Protocol_Version": version}
    assert (
        asked(
            site.url, panel, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **session
        ).status_code
        == 202
    )
    call = {"name": "mf_ask", "arguments": {"to": "app", "subject": version, "body": "b"}}
    answer = asked(
        site.url,
        panel,
        {"jsonrpc": "2.0", "id": "é", "method": "tools/call", "params": call},
        **session,
    )
    reply = json.loads(answer.text.partition("data: ")[2])
    assert reply["id"] == "é"
    assert "(panel → app)" in reply["result"]["content"][0]["text"]


async def test_the_sdks_client_finds_2026_07_28_by_itself(site, panel):
    async with connected(site, panel) as client:
        assert client.protocol_version == MODERN
        assert "panel" in client.instructions
        assert client.server_capabilities.tools.list_changed


@BOTH
async def test_the_tools_are_those_of_stdio(site, panel, mode):
    with Agent("panel", variables=site.environment) as agent:
        local = agent.initialize().request("tools/list")["result"]["tools"]
        async with connected(site, panel, mode=mode) as client:
            listed = (await client.list_tools()).tools
            remote = [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed]
            assert remote == local
            for name, arguments in (
                ("mf_history", {"limit": "3"}),
                ("mf_ask", {"to": "nobody", "subject": "s", "body": "b"}),
                ("mf_ask", {"to": "app"}),
                ("mf_thread", {"message_id": "x"}),
                ("mf_next_step", {}),
                ("mf_nothing", {}),
            ):
                assert await said(client, name, **arguments) == agent.call(name, **arguments).text


@BOTH
async def test_sessions_work_at_once_each_under_its_own_name(site, mint, mode):
    async with (
        connected(site, mint("panel"), mode=mode) as panel,
        connected(site, mint("app"), mode=mode) as app,
    ):
        asked_of = {}
        for client, other in ((panel, "app"), (app, "panel")):
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert other in listed["mf_ask"].input_schema["properties"]["to"]["enum"]
            asked_of[other] = client

        async def ask_many(client, other):
            for number in range(5):
                text = await said(client, "mf_ask", to=other, subject=f"{mode} {number}", body="b")
                assert f"→ {other})" in text

        async with anyio.create_task_group() as tasks:
            for other, client in asked_of.items():
                tasks.start_soon(ask_many, client, other)
        for client, own, other in ((panel, "panel", "app"), (app, "app", "panel")):
            inbox = await said(client, "mf_inbox", limit=200)
            assert inbox.count(f"{other} → {own} — {mode} ") == 5


@BOTH
async def test_one_client_calls_many_tools_at_once(site, panel, mode):
    async with connected(site, panel, mode=mode) as client, anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(client.call_tool, "mf_thread", {"message_id": number})
