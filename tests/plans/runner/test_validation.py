"""A step is validated under a lease: its outcome is stored once, and only by who holds it."""

import asyncio
import time

import pytest
from django.db.utils import OperationalError
from django.utils.translation import override

from coordination.errors import Conflict, Forbidden, NotFound
from mcp_bridge import calls
from plans.runner import validation
from plans.runner.validation import Runner
from plans.services.steps import expire_leases
from plans.services.transitions import skip_task
from tests.plans.runner.conftest import (
    APP,
    HUMAN,
    PANEL,
    in_database,
    make_step,
    overwrite,
    seen_status,
    shell_step,
    state,
)
from tests.plans.runner.running import marked_sleep, processes, seen, sleepers


@pytest.fixture(autouse=True)
def _english():
    with override("en"):
        yield


def started(runner, task_id):
    return asyncio.create_task(runner.validate(actor=PANEL, task_id=task_id))


async def test_passing_rule_ends_the_step(runner):
    step = await shell_step("echo fine")
    result = await runner.validate(actor=PANEL, task_id=step)
    assert result.outcome.passed
    assert result.task.status == "done"
    assert result.task.attempts == 1
    assert result.task.last_proof.endswith("\nfine")
    assert result.task.last_error == ""
    assert result.task.runner_id == ""


async def test_failing_rule_fails_the_step_with_its_evidence(runner):
    step = await shell_step("echo broken; exit 2")
    result = await runner.validate(actor=PANEL, task_id=step)
    assert (result.task.status, result.task.attempts) == ("failed", 1)
    assert result.task.last_error.endswith(" 2: broken")
    assert result.task.last_proof.endswith("\nbroken")


async def test_step_stays_current_while_attempts_are_left(runner, tmp_path):
    step = await shell_step("test -e made", max_attempts=3)
    for attempt in (1, 2):
        result = await runner.validate(actor=PANEL, task_id=step)
        assert (result.task.status, result.task.attempts) == ("current", attempt)
        assert result.task.last_error
    (tmp_path / "made").touch()
    result = await runner.validate(actor=PANEL, task_id=step)
    assert (result.task.status, result.task.last_error) == ("done", "")


async def test_artifacts_are_checked_in_the_projects_folder(runner, tmp_path):
    (tmp_path / "report.txt").write_text("all green")
    rules = [
        {"rule": "file_exists", "path": "report.txt"},
        {"rule": "file_contains", "path": "report.txt", "text": "green"},
    ]
    step = await in_database(lambda: make_step("artifact", rules))
    result = await runner.validate(actor=PANEL, task_id=step)
    assert result.task.status == "done"
    assert len(result.task.last_proof.splitlines()) == 2


@pytest.mark.parametrize("folder", [None, "", "gone"])
async def test_unusable_folder_is_named_and_the_step_stays(runner, monkeypatch, tmp_path, folder):
    if folder is None:
        monkeypatch.delenv("MCP_PROJECT_CWD")
    else:
        monkeypatch.setenv("MCP_PROJECT_CWD", str(tmp_path / folder) if folder else " ")
    step = await shell_step("true")
    before = await state(step)
    with pytest.raises(Conflict, match="MCP_PROJECT_CWD"):
        await runner.validate(actor=PANEL, task_id=step)
    assert await state(step) == before


async def test_rule_without_need_of_the_folder_runs_without(runner, monkeypatch):
    monkeypatch.delenv("MCP_PROJECT_CWD")
    rule = {"rule": "http_get_status", "url": "http://127.0.0.1:9/"}
    step = await in_database(lambda: make_step("artifact", rule))
    assert (await runner.validate(actor=PANEL, task_id=step)).task.status == "failed"


@pytest.mark.parametrize(
    "rule",
    [None, {}, {"cmd": ""}, {"cmd": "true", "timeout": 0}, {"rule": "file_exists"}, "true", []],
)
async def test_faulty_rule_written_by_sql_fails_for_good_with_its_reason(runner, rule):
    step = await shell_step("true", max_attempts=5)
    await overwrite(step, validation_rule=rule)
    result = await runner.validate(actor=PANEL, task_id=step)
    assert result.task.status == "failed"
    assert "validation_rule" in result.task.last_error


async def test_refusals_run_nothing(runner, tmp_path):
    step = await shell_step("touch ran")
    with pytest.raises(Forbidden):
        await runner.validate(actor=APP, task_id=step)
    with pytest.raises(NotFound):
        await runner.validate(actor=PANEL, task_id=step + 1)
    manual = await in_database(lambda: make_step("manual", actor=APP))
    with pytest.raises(Conflict):
        await runner.validate(actor=APP, task_id=manual)
    assert (await state(step)).status == "current"
    assert not (tmp_path / "ran").exists()


async def test_of_two_at_once_one_runs_and_one_is_refused(runner, tmp_path):
    step = await shell_step("echo ran >> runs; sleep 0.2")
    results = await asyncio.gather(
        *(r.validate(actor=PANEL, task_id=step) for r in (runner, Runner(in_database))),
        return_exceptions=True,
    )
    assert sorted(type(result).__name__ for result in results) == ["Conflict", "Validation"]
    assert (tmp_path / "runs").read_text() == "ran\n"


async def test_long_rule_is_answered_early_and_goes_on(runner, monkeypatch, tmp_path):
    monkeypatch.setattr(validation, "ANSWER_SECONDS", 0.3)
    step = await shell_step("while [ ! -e go ]; do sleep 0.05; done; echo finished")
    result = await runner.validate(actor=PANEL, task_id=step)
    assert result.outcome is None
    assert result.task.status == "validating"
    (tmp_path / "go").touch()
    found = await seen_status(step, leaving="validating")
    assert found.status == "done"
    assert found.last_proof.endswith("finished")


async def test_time_that_a_call_has_waited_already_counts(runner, tmp_path):
    step = await shell_step("while [ ! -e go ]; do sleep 0.05; done")
    came = time.monotonic() - validation.ANSWER_SECONDS
    result = await asyncio.wait_for(
        runner.validate(actor=PANEL, task_id=step, since=came), validation.ANSWER_SECONDS / 2
    )
    assert result.outcome is None
    (tmp_path / "go").touch()
    assert (await seen_status(step, leaving="validating")).status == "done"


def test_answer_comes_within_45_seconds():
    assert validation.ANSWER_SECONDS + calls.PATIENCE_SECONDS < 45


async def test_progress_is_told_with_the_time_limit(runner, monkeypatch):
    monkeypatch.setattr(validation, "PROGRESS_SECONDS", 0.05)
    told = []

    async def progress(seconds, limit):
        told.append((seconds, limit))

    step = await shell_step("sleep 0.5", limit=9)
    await runner.validate(actor=PANEL, task_id=step, progress=progress)
    assert len(told) > 2
    assert told == sorted(told)
    assert told[-1][1] == 9


async def test_lease_is_renewed_while_the_rule_runs(runner, settings):
    settings.LEASE_SECONDS = 1
    step = await shell_step("sleep 1.6")
    run = started(runner, step)
    while not run.done():
        await in_database(expire_leases)
        await asyncio.sleep(0.05)
    assert run.result().task.status == "done"


async def test_client_that_cancels_ends_the_run_and_the_attempt(runner):
    sleep = marked_sleep()
    step = await shell_step(f'trap "" TERM; {sleep} | cat')
    run = started(runner, step)
    await seen(lambda: sleepers(sleep))
    run.cancel()
    began = time.monotonic()
    await asyncio.wait({run})
    assert run.cancelled()
    found = await seen_status(step, leaving="validating")
    assert time.monotonic() - began < 5
    assert found.status == "failed"
    assert found.last_error == "the validation was cancelled by the client"
    assert processes(sleep) == []


async def test_shutdown_ends_every_run_in_time(runner):
    sleep = marked_sleep()
    step = await shell_step(f'trap "" TERM; {sleep} & {sleep}')
    run = started(runner, step)
    await seen(lambda: len(sleepers(sleep)) == 2)
    began = time.monotonic()
    await runner.shutdown()
    assert time.monotonic() - began < 4
    assert processes(sleep) == []
    result = await run
    assert result.task.status == "failed"
    assert result.task.last_error == "the session ended during the validation"


async def test_what_a_human_did_meanwhile_stands_and_the_command_is_killed(runner, settings):
    settings.LEASE_SECONDS = 1
    sleep = marked_sleep()
    step = await shell_step(sleep)
    run = started(runner, step)
    await seen(lambda: sleepers(sleep))
    # A runner that others took for dead, because its machine slept, say.
    await overwrite(step, status="failed", runner_id="", lease_expires_at=None)
    await in_database(lambda: skip_task(actor=HUMAN, task_id=step))
    skipped = await state(step)
    with pytest.raises(Conflict):
        await run
    assert processes(sleep) == []
    assert await state(step) == skipped


async def test_late_finisher_overwrites_nothing(runner):
    step = await shell_step("sleep 0.4")
    run = started(runner, step)
    await seen_status(step, leaving="current")
    await overwrite(step, status="failed", runner_id="", lease_expires_at=None)
    await in_database(lambda: skip_task(actor=HUMAN, task_id=step))
    skipped = await state(step)
    with pytest.raises(Conflict):
        await run
    assert await state(step) == skipped


async def test_run_that_lost_its_step_does_not_end_a_later_run(runner):
    step = await shell_step("sleep 0.4; exit 1", max_attempts=2)
    first = started(runner, step)
    await seen_status(step, leaving="current")
    await overwrite(step, status="current", runner_id="", lease_expires_at=None)
    await overwrite(step, validation_rule={"cmd": "sleep 0.8"})
    second = started(runner, step)
    with pytest.raises(Conflict):
        await first
    assert (await state(step)).status == "validating"
    assert (await second).task.status == "done"


async def test_database_that_is_busy_at_the_end_gets_its_outcome_later(
    tmp_path, runner, monkeypatch
):
    monkeypatch.setattr(validation, "RETRY_SECONDS", 0.01)
    real, refused = validation.finish_validation, []

    def busy(**values):
        if len(refused) < 3:
            refused.append(1)
            raise OperationalError("database is locked")
        return real(**values)

    monkeypatch.setattr(validation, "finish_validation", busy)
    step = await shell_step("true")
    assert (await runner.validate(actor=PANEL, task_id=step)).task.status == "done"
    assert len(refused) == 3
