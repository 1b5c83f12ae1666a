"""mf_wait answers as soon as there is something to do, and holds nothing up meanwhile."""

import asyncio
import time

import pytest
from asgiref.sync import sync_to_async

from coordination.models import Message
from mcp_bridge.tools import waiting
from plans.models import Plan
from plans.services import transitions
from plans.states import TaskStatus
from tests.conftest import wait_until
from tests.mcp_bridge.conftest import working_as
from tests.mcp_bridge.doors import in_another_process
from tests.plans.factories import PERSON, make_plan, make_task

QUESTION = "1 question(s) ouverte(s) pour toi: mf_inbox."
STEP = "Une étape t'attend: mf_next_step."
MOVED = "Ton étape a bougé: mf_next_step dit où elle en est."
ASK = {"to": "panel", "subject": "Q", "body": "b"}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Look often."""
    monkeypatch.setattr(waiting, "POLL_SECONDS", 0.05)


async def during_a_wait(call, change):
    """Return what a wait says once `change` has come about, after it has found nothing."""
    waiting_call = asyncio.create_task(call("mf_wait", timeout=20))
    await asyncio.sleep(0.3)
    assert not waiting_call.done()
    await change
    return (await asyncio.wait_for(waiting_call, 10)).text


async def test_a_question_that_is_there_already_is_told_at_once(sessions):
    async with working_as("panel") as panel, working_as("app") as app:
        await app("mf_ask", **ASK)
        before = time.monotonic()
        assert (await panel("mf_wait")).text == QUESTION
        assert time.monotonic() - before < 5


async def test_a_question_to_the_session_or_to_everyone_ends_the_wait(sessions):
    async with working_as("panel") as panel, working_as("app") as app:
        assert await during_a_wait(panel, app("mf_ask", **ASK)) == QUESTION
        await panel("mf_close", message_id=(await Message.objects.aget()).pk)
        assert await during_a_wait(panel, app("mf_broadcast", subject="Q", body="b")) == QUESTION


async def test_its_own_question_and_anothers_end_no_wait(sessions):
    async with working_as("panel") as panel, working_as("app") as app:
        waiting_call = asyncio.create_task(panel("mf_wait", timeout=2))
        await panel("mf_broadcast", subject="Q", body="b")
        await app("mf_ask", to="human", subject="Q", body="b")
        assert (await waiting_call).text == "Rien de nouveau après 2 s."


async def test_an_answer_to_its_question_ends_the_wait_once(sessions):
    async with working_as("panel") as panel, working_as("app") as app:
        await panel("mf_ask", to="app", subject="Q", body="b")
        question = (await Message.objects.aget()).pk
        expected = f"Ta question #{question} a une réponse: mf_thread({question})."
        answer = app("mf_answer", message_id=question, body="oui")
        assert await during_a_wait(panel, answer) == expected
        again = app("mf_answer", message_id=question, body="encore")
        assert await during_a_wait(panel, again) == expected


async def test_an_answer_that_came_before_the_wait_is_told_until_the_question_is_closed(sessions):
    async with working_as("panel") as panel, working_as("app") as app:
        await panel("mf_ask", to="app", subject="Q", body="b")
        question = (await Message.objects.aget()).pk
        await app("mf_answer", message_id=question, body="oui")
        assert "mf_thread" in (await panel("mf_wait")).text
        assert (await panel("mf_wait", timeout=1)).text == "Rien de nouveau après 1 s."
    async with working_as("panel") as panel:
        await panel("mf_close", message_id=question)
        assert (await panel("mf_wait", timeout=1)).text == "Rien de nouveau après 1 s."


@pytest.mark.parametrize("status", [TaskStatus.PENDING, TaskStatus.CURRENT])
async def test_a_step_to_do_is_told_at_once(sessions, status):
    await sync_to_async(lambda: make_task(make_plan(), status))()
    async with working_as("panel") as panel:
        assert (await panel("mf_wait")).text == STEP


@pytest.mark.parametrize(
    ("status", "action", "told"),
    [
        (TaskStatus.AWAITING_HUMAN, "validate-manual", STEP),
        (TaskStatus.AWAITING_HUMAN, "reject", STEP),
        (TaskStatus.FAILED, "reset", STEP),
        (TaskStatus.BLOCKED, "skip", STEP),
    ],
)
async def test_what_a_human_decides_about_its_step_ends_the_wait(sessions, status, action, told):
    def begin():
        plan = make_plan()
        step = make_task(plan, status)
        make_task(plan)
        return step.pk

    step = await sync_to_async(begin)()
    decide = sync_to_async(transitions.act)(
        actor=PERSON, task_id=step, action=action, remark="À revoir."
    )
    async with working_as("panel") as panel:
        assert await during_a_wait(panel, decide) == told


async def test_the_last_step_validated_ends_the_wait_too(sessions):
    step = await sync_to_async(lambda: make_task(make_plan(), TaskStatus.AWAITING_HUMAN).pk)()
    decide = sync_to_async(transitions.validate_task)(actor=PERSON, task_id=step)
    async with working_as("panel") as panel:
        assert await during_a_wait(panel, decide) == MOVED


async def test_the_step_of_a_paused_plan_is_not_to_do(sessions):
    def begin():
        plan = make_plan()
        make_task(plan, TaskStatus.CURRENT)
        Plan.objects.filter(pk=plan.pk).update(status="paused")

    await sync_to_async(begin)()
    async with working_as("panel") as panel:
        assert (await panel("mf_wait", timeout=1)).text == "Rien de nouveau après 1 s."


@pytest.mark.parametrize("seconds", [0, 51, -1, "x", 1e30, True])
async def test_a_time_that_is_too_long_or_no_time_is_refused(sessions, seconds):
    async with working_as("panel") as panel:
        reply = await panel("mf_wait", timeout=seconds)
    assert reply.is_error
    assert reply.text.startswith("Erreur: timeout: un nombre entier de 1 à 50")


def test_another_process_wakes_it_and_calls_go_on_meanwhile(start):
    panel, app = start("panel").initialize(), start("app").initialize()
    request = panel.ask("tools/call", {"name": "mf_wait", "arguments": {}})
    assert panel.call("mf_inbox").text.startswith("Aucune question")
    panel.request("ping")
    with pytest.raises(TimeoutError):
        panel.answer_to(request, seconds=0.5)
    app.call("mf_ask", **ASK)
    before = time.monotonic()
    answer = panel.answer_to(request)
    assert answer["result"]["content"][0]["text"] == QUESTION
    assert time.monotonic() - before < 4


def test_a_human_at_another_door_wakes_it(start, database_file):
    in_another_process(
        database_file,
        "plan = plans.create_plan(actor=human, project='panel', title='P')",
        "tasks.add_task(actor=human, plan_id=plan.pk, title='Un', instructions='Fais.')",
        "step = steps.next_step(actor=Actor.agent('panel')).task.id",
        "transitions.submit_for_human(actor=Actor.agent('panel'), task_id=step)",
    )
    panel = start("panel").initialize()
    request = panel.ask("tools/call", {"name": "mf_wait", "arguments": {}})
    with pytest.raises(TimeoutError):
        panel.answer_to(request, seconds=0.5)
    in_another_process(
        database_file, "transitions.reject_task(actor=human, task_id=1, remark='Non.')"
    )
    answer = panel.answer_to(request, seconds=5)
    assert answer["result"]["content"][0]["text"] == STEP


def test_what_the_same_process_does_wakes_it_too(start, database_file, tmp_path):
    """SQLite's own counter of commits leaves those of the asking connection out."""
    in_another_process(
        database_file,
        "plan = plans.create_plan(actor=human, project='panel', title='P')",
        "tasks.add_task(actor=human, plan_id=plan.pk, title='Un', instructions='Fais.',",
        "    validation_mode='shell',",
        "    validation_rule={'cmd': 'until [ -e go ]; do sleep .1; done'})",
        "steps.next_step(actor=Actor.agent('panel'))",
    )
    agent = start("panel", variables={"MCP_PROJECT_CWD": str(tmp_path)}).initialize()
    arguments = {"name": "mf_validate_step", "arguments": {"task_id": 1}}
    agent.ask("tools/call", arguments)
    wait_until(lambda: "validation en cours" in agent.call("mf_next_step").text, seconds=20)
    request = agent.ask("tools/call", {"name": "mf_wait", "arguments": {}})
    with pytest.raises(TimeoutError):
        agent.answer_to(request, seconds=2)
    (tmp_path / "go").touch()
    assert agent.answer_to(request)["result"]["content"][0]["text"] == MOVED


def test_a_cancelled_wait_ends_unanswered(start):
    agent = start("panel").initialize()
    request = agent.ask("tools/call", {"name": "mf_wait", "arguments": {}})
    with pytest.raises(TimeoutError):
        agent.answer_to(request, seconds=0.5)
    agent.send(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request}}
    )
    assert not agent.call("mf_inbox").is_error
    agent.request("ping")
    with pytest.raises(TimeoutError):
        agent.answer_to(request, seconds=0.5)


def test_the_end_of_the_input_ends_a_wait_with_its_answer(start):
    agent = start("panel").initialize()
    request = agent.ask("tools/call", {"name": "mf_wait", "arguments": {}})
    with pytest.raises(TimeoutError):
        agent.answer_to(request, seconds=0.5)
    before = time.monotonic()
    agent.process.stdin.close()
    answer = agent.answer_to(request)
    assert answer["result"]["content"][0]["text"].startswith("Rien de nouveau après")
    assert agent.process.wait(10) == 0
    assert time.monotonic() - before < 3
