"""What agents read about the tools, and what that costs them."""

import json

import pytest
from django.utils import translation
from mcp.client.client import Client

from coordination.models import Session
from mcp_bridge.crossing import in_database
from mcp_bridge.identity import Identity
from mcp_bridge.server import Bridge, instructions
from mcp_bridge.tools import all_tools
from mcp_bridge.tools.waiting import Waits
from plans.runner.validation import Runner
from tests.mcp_bridge.conftest import rows

pytestmark = pytest.mark.usefixtures("sessions")
TOOLS = [
    "mf_ask",
    "mf_broadcast",
    "mf_inbox",
    "mf_answer",
    "mf_close",
    "mf_history",
    "mf_thread",
    "mf_health",
    "mf_next_step",
    "mf_validate_step",
    "mf_block_step",
    "mf_wait",
]


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Read the sessions before listing, however busy this machine is."""
    monkeypatch.setattr("mcp_bridge.roster.PATIENCE_SECONDS", 20)


async def listed(key="panel", mode="auto"):
    async with Client(Bridge(Identity(key)).server, mode=mode) as client:
        return {tool.name: tool for tool in (await client.list_tools()).tools}


async def test_the_twelve_tools_are_listed_with_every_annotation():
    tools = await listed()
    assert list(tools) == TOOLS
    for tool in tools.values():
        hints = tool.annotations
        assert None not in (hints.read_only_hint, hints.idempotent_hint, hints.destructive_hint)
    readers = {name for name, tool in tools.items() if tool.annotations.read_only_hint}
    assert readers == {"mf_inbox", "mf_history", "mf_thread", "mf_health", "mf_wait"}
    assert tools["mf_close"].annotations.idempotent_hint
    assert not tools["mf_ask"].annotations.idempotent_hint


async def test_the_sessions_that_one_may_ask_come_from_the_database():
    await Session.objects.acreate(key="site", description="Le site public", position=2000)
    tools = await listed("panel")
    to = tools["mf_ask"].input_schema["properties"]["to"]
    assert to["enum"] == ["app", "human", "site"]
    assert "site: Le site public" in to["description"]
    senders = tools["mf_history"].input_schema["properties"]["from_session"]["enum"]
    assert senders == ["panel", "app", "human", "site"]


async def test_schemas_say_what_is_required_and_what_is_allowed():
    tools = await listed()
    assert tools["mf_ask"].input_schema["required"] == ["to", "subject", "body"]
    assert "required" not in tools["mf_inbox"].input_schema
    inbox = tools["mf_inbox"].input_schema["properties"]
    assert inbox["status"]["enum"] == ["open", "answered", "closed", "all"]
    assert (inbox["limit"]["minimum"], inbox["limit"]["maximum"]) == (1, 200)


def test_the_whole_list_for_four_sessions_is_under_6000_bytes(start, database_file):
    for number, key in enumerate(("panel", "app", "site", "mobile-application")):
        rows(
            database_file,
            "INSERT INTO coordination_session (key, color, description, position) "
            "VALUES (?, '#000000', ?, ?) "
            "ON CONFLICT (key) DO UPDATE SET description = excluded.description",
            key, "Ce que fait ce projet, é" * 5, number,
        )  # fmt: skip
    agent = start("panel").initialize()
    answer = agent.request("tools/list")
    sent = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
    assert b"mobile-application" in sent
    assert len(sent) < 6000


def test_instructions_are_one_short_paragraph():
    text = instructions(Identity("panel"))
    assert "panel" in text
    assert "mf_inbox" in text
    assert "\n" not in text
    assert len(text.encode()) < 1200


def test_every_description_exists_in_both_languages():
    tools = all_tools(Runner(in_database), Waits())
    french = {tool.description() for tool in tools}
    with translation.override("en"):
        english = {tool.description() for tool in tools}
    assert len(french) == len(english) == len(TOOLS)
    assert not french & english
