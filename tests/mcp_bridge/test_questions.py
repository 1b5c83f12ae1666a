"""What each tool about questions answers, to the letter."""

import datetime as dt
import re

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from coordination.models import Message, Session
from tests.mcp_bridge.conftest import working_as

pytestmark = pytest.mark.usefixtures("sessions")
DATE = r"\d{4}-\d\d-\d\d \d\d:\d\d"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_question_is_asked_read_answered_and_closed(mode):
    async with working_as("panel", mode=mode) as panel, working_as("app", mode=mode) as app:
        asked = await panel("mf_ask", to="app", subject="Schéma", body="Lequel?\nMerci.")
        number = int(re.search(r"#(\d+)", asked.text)[1])
        assert asked.text == (
            f"Question créée #{number} (panel → app). "
            "L'autre session la verra à son prochain mf_inbox."
        )
        inbox = await app("mf_inbox")
        assert re.fullmatch(
            rf"#{number} \[open\] panel → app — Schéma \({DATE}\)\n   Lequel\? Merci\.", inbox.text
        )
        answered = await app("mf_answer", message_id=number, body="Le second.")
        assert answered.text == f"Réponse postée à #{number} (par app, message {number + 1})."
        thread = await panel("mf_thread", message_id=number + 1)
        assert re.fullmatch(
            rf"#{number} \[answered\] panel → app — Schéma \({DATE}\)\nLequel\?\nMerci\.\n\n"
            rf"── Réponse #{number + 1} de app \({DATE}\) ──\nLe second\.",
            thread.text,
        )
        closed = await panel("mf_close", message_id=number)
        assert closed.text == f"Question #{number} fermée."
        history = await app("mf_history")
        assert re.fullmatch(rf"#{number} \[closed\] \(panel → app\) {DATE} — Schéma", history.text)
        assert not any(r.is_error for r in (asked, inbox, answered, thread, closed, history))


async def test_a_broadcast_reaches_everyone_but_its_author():
    async with working_as("panel") as panel, working_as("app") as app:
        asked = await panel("mf_broadcast", subject="Gel", body="Ce soir.")
        assert re.match(r"Question créée #\d+ \(panel → tous\)\. ", asked.text)
        assert "panel → tous — Gel" in (await app("mf_inbox")).text
        assert (await panel("mf_inbox")).text == "Aucune question (open) pour panel."


async def test_the_inbox_cuts_long_bodies_and_says_how_many_more_there_are():
    async with working_as("panel") as panel, working_as("app") as app:
        for number in range(3):
            await panel("mf_ask", to="app", subject=f"Q{number}", body="x" * 201)
        lines = (await app("mf_inbox", limit=2)).text.splitlines()
    assert [line.split(" — ")[1].split()[0] for line in lines[::2][:2]] == ["Q0", "Q1"]
    assert lines[1] == "   " + "x" * 200 + "…"
    assert lines[4].startswith("… et 1 de plus")
    assert len(lines) == 5


async def test_dates_are_local_time(settings):
    settings.TIME_ZONE = "Asia/Tokyo"
    async with working_as("panel") as panel:
        await panel("mf_ask", to="app", subject="Q", body="b")
        moment = dt.datetime(2026, 1, 1, 20, 30, tzinfo=dt.UTC)
        await Message.objects.aupdate(created_at=moment)
        assert "(panel → app) 2026-01-02 05:30 — Q" in (await panel("mf_history")).text


async def test_history_filters_add_up_and_wildcards_are_ordinary_characters():
    async with working_as("panel") as panel, working_as("app") as app:
        await panel("mf_ask", to="app", subject="100% ÉTÉ", body="b")
        await panel("mf_ask", to="human", subject="1000 été", body="b")
        await app("mf_ask", to="panel", subject="100% été", body="b")
        found = (await app("mf_history", subject_contains="0% été", from_session="panel")).text
        assert found.endswith("— 100% ÉTÉ")
        assert "\n" not in found
        assert len((await app("mf_history")).text.splitlines()) == 3
        assert (await app("mf_history", subject_contains="_")).text == "Aucune question trouvée."
        unknown = await app("mf_history", to_session="nobody")
        assert unknown.is_error
        assert "to_session" in unknown.text
        assert "panel" in unknown.text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("mf_answer", {"message_id": 99, "body": "b"}),
        ("mf_close", {"message_id": 99}),
        ("mf_thread", {"message_id": 99}),
    ],
)
async def test_an_unknown_message_is_refused_with_what_to_do(tool, arguments):
    async with working_as("panel") as panel:
        reply = await panel(tool, **arguments)
    assert reply.is_error
    assert re.match(r"Erreur: .*#99.*mf_inbox", reply.text)


async def test_answers_and_closed_questions_take_no_answer():
    async with working_as("panel") as panel:
        await panel("mf_ask", to="app", subject="Q", body="b")
        question = await Message.objects.aget()
        await panel("mf_answer", message_id=question.pk, body="un")
        reply_to_reply = await panel("mf_answer", message_id=question.pk + 1, body="deux")
        closing_reply = await panel("mf_close", message_id=question.pk + 1)
        await panel("mf_close", message_id=question.pk)
        after_closing = await panel("mf_answer", message_id=question.pk, body="trois")
        closing_twice = await panel("mf_close", message_id=question.pk)
    assert reply_to_reply.is_error
    assert closing_reply.is_error
    assert after_closing.is_error
    assert closing_twice.text == f"Question #{question.pk} fermée."
    assert await Message.objects.acount() == 2


async def test_asking_oneself_or_nobody_is_refused():
    async with working_as("panel") as panel:
        oneself = await panel("mf_ask", to="panel", subject="Q", body="b")
        nobody = await panel("mf_ask", to="nobody", subject="Q", body="b")
    assert oneself.is_error
    assert nobody.is_error
    assert "panel, app, human" in nobody.text
    assert not await Message.objects.aexists()


async def test_health_sorts_sessions_by_age_and_names_what_waits_for_the_absent():
    async with working_as("panel") as panel:
        await panel("mf_ask", to="app", subject="Q", body="b")
        seen = timezone.now() - dt.timedelta(seconds=3700)
        await Session.objects.filter(key="app").aupdate(last_seen=seen)
        text = (await panel("mf_health")).text
        assert re.fullmatch(
            r"active \(1\)\n   panel — à l'instant\nidle \(0\)\nstale \(1\)\n"
            r"   app — il y a 1 h\n"
            r"Questions ouvertes adressées à des sessions stale \(1\):\n"
            rf"   #\d+ panel → app — Q \({DATE}\)",
            text,
        )
        await Session.objects.filter(key="app").aupdate(last_seen=None)
        assert "app — jamais vue" in (await panel("mf_health")).text


async def test_asking_and_answering_end_with_a_reminder_of_the_inbox():
    async with working_as("panel") as panel, working_as("app") as app:
        await app("mf_ask", to="panel", subject="Q", body="b")
        asked = await panel("mf_ask", to="app", subject="Q", body="b")
        assert asked.text.endswith("\n✉ 1 question(s) ouverte(s) pour toi: mf_inbox")
        first = (await Message.objects.order_by("id").afirst()).pk
        answered = await panel("mf_answer", message_id=first, body="b")
        assert "✉" not in answered.text
        assert "✉" not in (await panel("mf_inbox")).text


async def test_every_call_stamps_its_session_even_one_that_is_refused():
    async with working_as("panel") as panel:
        for call in ({"name": "mf_nothing"}, {"name": "mf_ask"}):
            await Session.objects.aupdate(last_seen=None)
            assert (await panel(call["name"])).is_error
            stamped = await sync_to_async(Session.objects.get)(key="panel")
            assert stamped.last_seen is not None
