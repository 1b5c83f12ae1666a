"""A process without a usable session says so at each call, and works once that is mended."""

import pytest
from asgiref.sync import sync_to_async

from bench.agent import RUNMCP
from coordination.models import Session
from tests.mcp_bridge.conftest import working_as

pytestmark = pytest.mark.usefixtures("sessions")


async def test_a_process_without_session_is_told_how_to_get_one():
    async with working_as("") as agent:
        reply = await agent("mf_inbox")
    assert reply.is_error
    assert reply.text.startswith("Erreur: aucune session: donne à MCP_SESSION_ID")
    assert "panel, app" in reply.text
    assert "mcpconfig" in reply.text


async def test_an_unknown_session_works_as_soon_as_its_row_is_added():
    async with working_as("mobile") as agent:
        before = await agent("mf_inbox")
        assert before.is_error
        assert before.text.startswith("Erreur: session inconnue 'mobile'")
        await sync_to_async(Session.objects.create)(key="mobile")
        assert (await agent("mf_inbox")).text == "Aucune question (open) pour mobile."


async def test_no_agent_works_as_human():
    async with working_as("human") as agent:
        reply = await agent("mf_ask", to="app", subject="Q", body="b")
    assert reply.is_error
    human = await sync_to_async(Session.objects.get)(key="human")
    assert human.last_seen is None


def test_the_command_line_goes_before_the_environment(start):
    agent = start("app", command=(*RUNMCP, "--session", "panel"))
    assert agent.initialize().call("mf_inbox").text == "Aucune question (open) pour panel."
