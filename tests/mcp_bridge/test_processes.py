"""Real processes on one database, through the SDK's own client."""

import sys

import anyio
import pytest
from asgiref.sync import sync_to_async
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import ToolListChangedNotification

from tests.conftest import PROJECT, clean_environment
from tests.mcp_bridge.conftest import rows

NEW_SESSION = (
    "INSERT INTO coordination_session (key, color, description, position) "
    "VALUES ('site', '#000000', 'Le site', 30)"
)


def process(session, database):
    return StdioServerParameters(
        command=sys.executable,
        args=[str(PROJECT / "manage.py"), "runmcp", "--session", session],
        env=clean_environment(MCP_HANDOFF_DB=str(database), HANDOFF_DATA_DIR=str(database.parent)),
    )


async def text(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return result.content[0].text


async def recipients(client):
    tools = (await client.list_tools()).tools
    return next(t for t in tools if t.name == "mf_ask").input_schema["properties"]["to"]["enum"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_two_agents_talk_through_one_database(database_file, mode):
    async with (
        Client(process("panel", database_file), mode=mode) as panel,
        Client(process("app", database_file), mode=mode) as app,
    ):
        assert panel.server_info.name == "handoff"
        await text(panel, "mf_ask", to="app", subject="Port?", body="Lequel?")
        assert "panel → app — Port?" in await text(app, "mf_inbox")
        await text(app, "mf_answer", message_id="1", body="7878")
        assert "7878" in await text(panel, "mf_thread", message_id=1)


async def test_a_handshake_client_is_told_when_a_session_is_added(database_file):
    told = anyio.Event()

    async def on_message(message):
        if isinstance(message, ToolListChangedNotification):
            told.set()

    panel = process("panel", database_file)
    async with Client(panel, mode="legacy", message_handler=on_message) as client:
        assert client.server_capabilities.tools.list_changed
        assert await recipients(client) == ["app", "human"]
        await sync_to_async(rows)(database_file, NEW_SESSION)
        with anyio.fail_after(20):
            await told.wait()
        assert await recipients(client) == ["app", "site", "human"]
        await text(client, "mf_ask", to="site", subject="Q", body="b")


async def test_a_subscribed_client_is_told_when_a_session_is_added(database_file):
    async with (
        Client(process("panel", database_file), mode="2026-07-28") as client,
        client.listen(tools_list_changed=True) as changes,
    ):
        assert await recipients(client) == ["app", "human"]
        await sync_to_async(rows)(database_file, NEW_SESSION)
        with anyio.fail_after(20):
            async for _change in changes:
                break
        assert await recipients(client) == ["app", "site", "human"]
