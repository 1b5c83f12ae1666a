"""What the step tools answer, to the letter, and validations that run beside other calls."""

import os
import signal
import subprocess
import sys
import time

import pytest
from asgiref.sync import sync_to_async

from bench.database import variables_of
from coordination.actors import Actor
from plans.models import Task
from plans.services import transitions
from plans.states import TaskStatus
from tests.conftest import PROJECT, clean_environment, wait_until
from tests.mcp_bridge.conftest import rows, working_as
from tests.mcp_bridge.test_shutdown import alive
from tests.plans.factories import make_plan, make_task

PERSON = Actor.human("ada")


@pytest.fixture
def step(sessions):
    """Make the next step of panel's plan."""
    plan = make_plan(title="Déploiement")
    return lambda **values: make_task(plan, **{"title": "Un", "instructions": "Fais.", **values})


async def test_a_step_is_given_whole_and_the_next_one_is_not_shown(step):
    first = await sync_to_async(step)()
    await sync_to_async(step)(title="Secret")
    expected = (
        f"Étape #{first.pk} — Un\nPlan: Déploiement\nValidation: manual (par un humain)\n\n"
        f"Fais.\n\nQuand c'est fait: mf_validate_step({first.pk}). "
        f"Si tu ne peux pas avancer: mf_block_step({first.pk}, raison)."
    )
    async with working_as("panel") as panel:
        assert [(await panel("mf_next_step")).text for _ in range(2)] == [expected] * 2


async def test_a_project_without_steps_is_told_so(sessions):
    async with working_as("panel") as panel, working_as("app") as app:
        assert (await panel("mf_next_step")).text == "Aucune étape en attente pour panel."
        await app("mf_ask", to="panel", subject="Q", body="b")
        reminded = (await panel("mf_next_step")).text
    assert reminded.endswith("panel.\n✉ 1 question(s) ouverte(s) pour toi: mf_inbox")


async def test_a_manual_step_waits_for_a_human_and_comes_back_with_the_remark(step):
    number = (await sync_to_async(step)()).pk
    waiting = f"Étape #{number} en attente de validation humaine. Arrête-toi ici."
    async with working_as("panel") as panel:
        await panel("mf_next_step")
        assert (await panel("mf_validate_step", task_id=str(number), proof="vu")).text == waiting
        assert (await panel("mf_next_step")).text == waiting
        assert (await panel("mf_validate_step", task_id=number)).is_error
        await sync_to_async(transitions.reject_task)(actor=PERSON, task_id=number, remark="Non.")
        assert "À prendre en compte: Non." in (await panel("mf_next_step")).text
    assert (await Task.objects.aget(pk=number)).last_proof == "vu"


async def test_a_blocked_step_stops_the_agent(step):
    number = (await sync_to_async(step)()).pk
    async with working_as("panel") as panel:
        await panel("mf_next_step")
        assert (await panel("mf_block_step", task_id=number)).text == "Champs requis: reason"
        blocked = await panel("mf_block_step", task_id=number, reason="pas de clé")
        assert blocked.text == f"Étape #{number} bloquée: pas de clé. Attends l'humain."
        assert (await panel("mf_next_step")).text == (
            f"Étape #{number} bloquée: pas de clé. L'humain doit la relancer ou la passer."
        )


async def test_another_project_s_step_is_left_alone(step):
    number = (await sync_to_async(step)()).pk
    async with working_as("panel") as panel, working_as("app") as app:
        await panel("mf_next_step")
        for tool, more in (("mf_validate_step", {}), ("mf_block_step", {"reason": "r"})):
            assert (await app(tool, task_id=number, **more)).is_error
        assert (await app("mf_validate_step", task_id=999)).is_error
    assert (await Task.objects.aget(pk=number)).status == TaskStatus.CURRENT


async def test_a_rule_decides_and_its_outcome_is_the_answer(step, monkeypatch, tmp_path):
    monkeypatch.setenv("MCP_PROJECT_CWD", str(tmp_path))
    rule = {"cmd": "echo vu; test -e done", "timeout": 20}
    number = (
        await sync_to_async(step)(
            validation_mode="shell", validation_rule=rule, max_attempts=3
        )
    ).pk  # fmt: skip
    async with working_as("panel") as panel:
        await panel("mf_next_step")
        failed = (await panel("mf_validate_step", task_id=number)).text
        assert failed.startswith(f"Étape #{number} non validée, essai 1 sur 3: ")
        assert failed.endswith("vu")
        (tmp_path / "done").touch()
        passed = (await panel("mf_validate_step", task_id=number)).text
        assert passed == f"Étape #{number} validée. mf_next_step donne la suite."
        assert (await panel("mf_next_step")).text == "Aucune étape en attente pour panel."


async def test_a_rule_without_its_folder_leaves_the_step_current(step, monkeypatch):
    monkeypatch.delenv("MCP_PROJECT_CWD", raising=False)
    number = (
        await sync_to_async(step)(validation_mode="shell", validation_rule={"cmd": "true"})
    ).pk
    async with working_as("panel") as panel:
        await panel("mf_next_step")
        reply = await panel("mf_validate_step", task_id=number)
    assert reply.is_error
    assert "MCP_PROJECT_CWD" in reply.text
    assert (await Task.objects.aget(pk=number)).status == TaskStatus.CURRENT


PREPARE = """
from tests.plans.factories import make_plan, make_task
rule = {"cmd": "echo $$ > pid; sleep 600", "timeout": 60}
make_task(make_plan(), "current", pk=1, validation_mode="shell", validation_rule=rule)
"""
VALIDATE = {"name": "mf_validate_step", "arguments": {"task_id": 1}}


@pytest.fixture
def validating(start, database_file, tmp_path):
    """An agent in the middle of a long validation: the agent, the request, the command's pid."""
    subprocess.run(
        [sys.executable, "manage.py", "shell", "--verbosity=0", "-c", PREPARE],
        cwd=PROJECT,
        env=clean_environment(**variables_of(database_file)),
        check=True,
        timeout=60,
    )
    agent = start(variables={"MCP_PROJECT_CWD": str(tmp_path)}).initialize()
    request = agent.ask("tools/call", {**VALIDATE, "_meta": {"progressToken": "p"}})
    pid = wait_until(
        lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip(), seconds=20
    )
    return agent, request, int(pid)


def test_other_calls_are_served_and_progress_reported_during_a_validation(validating, start):
    agent, _request, _pid = validating
    assert agent.call("mf_next_step", seconds=5).text == (
        "Étape #1: validation en cours. Rappelle mf_next_step dans un instant."
    )
    assert agent.request("ping", seconds=2)["result"] == {}
    agent.answer_to(agent.ask("ping"))
    wait_until(lambda: agent.request("ping") and agent.notifications, seconds=10)
    progress = agent.notifications[0]
    assert progress["method"] == "notifications/progress"
    assert progress["params"]["progressToken"] == "p"
    assert progress["params"]["total"] == 60


def test_a_cancelled_validation_ends_unanswered_and_its_command_with_it(validating, database_file):
    agent, request, pid = validating
    for unknown in (999, request):
        params = {"requestId": unknown}
        agent.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    wait_until(lambda: not alive(pid), seconds=15)
    status = "SELECT status FROM plans_task"
    wait_until(lambda: rows(database_file, status) == [("failed",)], seconds=15)
    assert agent.request("ping")["result"] == {}
    with pytest.raises(TimeoutError):
        agent.answer_to(request, seconds=0.2)
    assert agent.close() == 0


@pytest.mark.parametrize("end", ["input", "output", "signal"])
def test_the_end_of_the_process_ends_its_validation(validating, database_file, end):
    agent, request, pid = validating
    before = time.monotonic()
    if end == "signal":
        os.kill(agent.pid, signal.SIGTERM)
    else:
        (agent.process.stdin if end == "input" else agent.process.stdout).close()
    if end != "output":
        assert "échouée" in agent.answer_to(request)["result"]["content"][0]["text"]
    assert agent.process.wait(10) == 0
    assert time.monotonic() - before < 5
    assert not alive(pid)
    assert rows(database_file, "SELECT status FROM plans_task") == [("failed",)]


def test_a_killed_process_leaves_no_command_and_its_step_is_failed_later(
    validating, database_file, start
):
    agent, _request, pid = validating
    agent.process.kill()
    wait_until(lambda: not alive(pid), seconds=5)
    rows(database_file, "UPDATE plans_task SET lease_expires_at = '2026-01-01'")
    successor = start("app").initialize()
    wait_until(
        lambda: (
            rows(database_file, "SELECT status, last_error FROM plans_task")
            == [("failed", "runner_crashed")]
        ),
        seconds=15,
    )
    assert successor.close() == 0
