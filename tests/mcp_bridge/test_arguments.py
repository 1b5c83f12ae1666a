"""Whatever an agent sends as arguments, it gets a sentence that it can act on."""

import pytest

from coordination.models import Message
from tests.mcp_bridge.conftest import working_as

pytestmark = pytest.mark.usefixtures("sessions")


@pytest.fixture
def question(sessions) -> Message:
    return Message.objects.create(
        from_session_id="app",
        to_session_id="panel",
        subject="Q",
        body="b",
        created_at="2026-01-01T00:00Z",
    )


async def test_everything_missing_is_named_in_one_sentence():
    async with working_as("panel") as panel:
        assert (await panel("mf_ask")).text == "Champs requis: to, subject, body"
        blank = await panel("mf_ask", to="app", subject=" \n", body=None)
        assert blank.text == "Champs requis: subject, body"
        assert (await panel("mf_answer", body="b")).text == "Champs requis: message_id"
        assert blank.is_error


@pytest.mark.parametrize("form", [lambda i: i, str, float, lambda i: f" {i} ", lambda i: f"{i}.0"])
async def test_a_whole_number_counts_in_every_form_agents_send(question, form):
    async with working_as("panel") as panel:
        reply = await panel("mf_thread", message_id=form(question.pk))
    assert reply.text.startswith(f"#{question.pk} ")


@pytest.mark.parametrize(
    "value",
    [True, 12.9, "12.9", 0, -1, 2**63, 2**70, "abc", "1e3", "١", [1], {"id": 1}, 1e30, "9" * 40],
)
async def test_anything_else_as_an_id_is_refused_by_its_field(value):
    async with working_as("panel") as panel:
        reply = await panel("mf_answer", message_id=value, body="b")
    assert reply.is_error
    assert reply.text.startswith("Erreur: message_id: un nombre entier de 1 à ")
    assert not await Message.objects.aexists()


@pytest.mark.parametrize("value", ["5", 200, 1.0, None, ""])
async def test_a_limit_between_1_and_200_is_taken(value):
    async with working_as("panel") as panel:
        assert not (await panel("mf_inbox", limit=value)).is_error


@pytest.mark.parametrize("value", [-1, 0, 201, 1e30, "many", False])
async def test_another_limit_is_refused_with_its_bounds(value):
    async with working_as("panel") as panel:
        for tool in ("mf_inbox", "mf_history"):
            reply = await panel(tool, limit=value)
            assert reply.text.startswith("Erreur: limit: un nombre entier de 1 à 200 est attendu")


async def test_an_unknown_word_is_refused_with_those_that_are_known():
    async with working_as("panel") as panel:
        reply = await panel("mf_inbox", status="x")
        known = "open, answered, closed, all"
        assert reply.text == f"Erreur: status: \"x\" n'est pas l'une des valeurs {known}."
        assert (await panel("mf_history", status=3)).text.startswith("Erreur: status: ")


@pytest.mark.parametrize("value", [12, True, ["x"], {"a": 1}])
async def test_a_text_of_another_type_is_refused_by_its_field(value):
    async with working_as("panel") as panel:
        reply = await panel("mf_ask", to="app", subject=value, body="b")
    assert reply.text.startswith("Erreur: subject: un texte est attendu")


@pytest.mark.parametrize("body", ["a\x00b", "x" * 100_001])
async def test_a_text_that_cannot_be_kept_is_refused_by_its_field(body):
    async with working_as("panel") as panel:
        reply = await panel("mf_ask", to="app", subject="Q", body=body)
    assert reply.is_error
    assert reply.text.startswith("Erreur: body: ")


async def test_a_misspelt_argument_is_named_rather_than_ignored():
    async with working_as("panel") as panel:
        reply = await panel("mf_history", subject="Q")
        assert reply.text.startswith('Erreur: argument inconnu "subject"; mf_history prend ')
        assert "subject_contains" in reply.text
        # Some clients cannot send an empty object.
        assert not (await panel("mf_health", random_string="x")).is_error


async def test_an_unknown_tool_is_answered_with_the_list_of_tools():
    async with working_as("panel") as panel:
        reply = await panel("mf_nothing", x=1)
    assert reply.is_error
    assert "mf_ask, " in reply.text
