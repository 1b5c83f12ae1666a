"""What the database says never reaches an agent in its own words."""

import pytest
from django.db.utils import DataError, IntegrityError, InterfaceError, OperationalError

from coordination.services import messages
from tests.mcp_bridge.conftest import working_as

pytestmark = pytest.mark.usefixtures("sessions")


@pytest.mark.parametrize(
    "error", [DataError, IntegrityError, InterfaceError, OperationalError, RuntimeError, KeyError]
)
async def test_an_error_inside_a_call_is_a_sentence_and_the_next_call_works(
    monkeypatch, error, caplog
):
    def fail(**_arguments):
        raise error("sqlite3 said: near SELECT, a secret")

    async with working_as("panel") as panel:
        with monkeypatch.context() as patch:
            patch.setattr(messages, "ask", fail)
            reply = await panel("mf_ask", to="app", subject="Q", body="b")
        assert reply.is_error
        assert reply.text.startswith("Erreur: ")
        assert "secret" not in reply.text
        assert not (await panel("mf_ask", to="app", subject="Q", body="b")).is_error
    (line,) = [record.getMessage() for record in caplog.records if record.name.startswith("mcp_")]
    assert "secret" in line
    assert "\n" not in line


async def test_a_failing_reminder_does_not_deny_what_was_done(monkeypatch):
    def fail(**_arguments):
        raise OperationalError("database is locked")

    monkeypatch.setattr("mcp_bridge.calls.open_count", fail)
    async with working_as("panel") as panel:
        reply = await panel("mf_ask", to="app", subject="Q", body="b")
    assert not reply.is_error
    assert "✉" not in reply.text
