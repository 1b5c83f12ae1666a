"""A project with a current step, and a runner that has the database to itself in one thread."""

import asyncio

import pytest
from asgiref.sync import sync_to_async

from coordination.actors import Actor
from coordination.models import Session
from plans.models import Task
from plans.runner.validation import Runner
from plans.selectors.tasks import TaskDetail, task_detail
from plans.services.plans import create_plan
from plans.services.steps import next_step
from plans.services.tasks import add_task

PANEL = Actor.agent("panel")
APP = Actor.agent("app")
HUMAN = Actor.human("ana")


async def in_database(work):
    return await sync_to_async(work, thread_sensitive=True)()


def make_sessions() -> None:
    """Put back the first rows, which earlier tests of this kind have flushed away."""
    for key in (HUMAN.session, PANEL.session, APP.session):
        Session.objects.get_or_create(key=key)


def make_step(mode: str, rule=None, *, max_attempts: int = 1, actor: Actor = PANEL) -> int:
    """Give a session a current step with a rule; return its id."""
    plan = create_plan(actor=HUMAN, project=actor.session, title="Release")
    task = add_task(
        actor=HUMAN, plan_id=plan.pk, title="Check", instructions="Check it.",
        validation_mode=mode, validation_rule=rule, max_attempts=max_attempts,
    )  # fmt: skip
    assert next_step(actor=actor).task.id == task.pk
    return task.pk


async def shell_step(cmd: str, *, limit: int = 60, **options) -> int:
    rule = {"cmd": cmd, "timeout": limit}
    return await in_database(lambda: make_step("shell", rule, **options))


async def state(task_id: int) -> TaskDetail:
    return await in_database(lambda: task_detail(task_id=task_id))


async def seen_status(task_id: int, *, leaving: str) -> TaskDetail:
    """Wait until a step is in another state than `leaving`."""
    async with asyncio.timeout(10):
        while (found := await state(task_id)).status == leaving:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return found


async def overwrite(task_id: int, **values) -> None:
    """Write to a step past all rules, as SQL would."""
    await in_database(lambda: Task.objects.filter(pk=task_id).update(**values))


@pytest.fixture
async def runner(transactional_db, tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_PROJECT_CWD", str(tmp_path))
    await in_database(make_sessions)
    made = Runner(in_database)
    yield made
    await made.shutdown()
