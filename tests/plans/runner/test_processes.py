"""Validations of several processes over one database, and what a killed one leaves."""

import pytest

from tests.conftest import wait_until
from tests.databases import rows
from tests.plans.runner.running import marked_sleep, processes, python, sleepers

SESSION = """
    import os, time
    from asgiref.sync import sync_to_async
    from coordination.actors import Actor
    from coordination.errors import DomainError
    from plans.models import Task
    from plans.runner.validation import Runner

    async def in_database(work):
        return await sync_to_async(work, thread_sensitive=True)()

    async def main(session, step):
        print("ready", flush=True)
        while not os.path.exists("go"):
            await asyncio.sleep(0.001)
        try:
            await Runner(in_database).validate(actor=Actor.agent(session), task_id=step)
        except DomainError as refused:
            print("refused:", refused)
        else:
            print("validated")
"""
PLANS = """
    from coordination.actors import Actor
    from plans.services.plans import create_plan
    from plans.services.steps import next_step
    from plans.services.tasks import add_task

    human = Actor.human()
    for session in ("panel", "app"):
        plan = create_plan(actor=human, project=session, title="Release")
        add_task(actor=human, plan_id=plan.pk, title="Check", instructions="Check.",
                 validation_mode="shell", validation_rule={{"cmd": {cmd!r}}})
        print(next_step(actor=Actor.agent(session)).task.id)
"""
EXPIRE = """
    from plans.services.steps import expire_leases
    print(expire_leases())
"""


class Desk:
    """A database, a project's folder, and processes that use both."""

    def __init__(self, database, folder):
        self.database = database
        self.folder = folder

    def start(self, code: str):
        return python(
            f"    import os; os.chdir({str(self.folder)!r})\n{code}",
            MCP_HANDOFF_DB=str(self.database),
            HANDOFF_DATA_DIR=str(self.folder),
            MCP_PROJECT_CWD=str(self.folder),
            HANDOFF_LEASE_SECONDS="2",
        )

    def output(self, code: str) -> list[str]:
        return self.start(code).communicate(timeout=30)[0].splitlines()

    def validating(self, session: str, step: str):
        process = self.start(f"{SESSION}\n    asyncio.run(main({session!r}, {step}))\n")
        assert process.stdout.readline() == "ready\n"
        return process

    def row(self, step: str) -> tuple:
        query = "SELECT status, last_error, attempts FROM plans_task WHERE id = ?"
        return rows(self.database, query, int(step))[0]


@pytest.fixture
def desk(database_file, tmp_path):
    return Desk(database_file, tmp_path)


def test_two_processes_that_validate_at_once_run_the_command_once(desk):
    panel, _app = desk.output(PLANS.format(cmd="echo ran >> runs; sleep 0.5"))
    both = [desk.validating("panel", panel) for _ in range(2)]
    (desk.folder / "go").touch()
    said = sorted(process.communicate(timeout=30)[0].strip() for process in both)
    assert said[0].startswith("refused: ")
    assert said[1] == "validated"
    assert (desk.folder / "runs").read_text() == "ran\n"
    assert desk.row(panel) == ("done", "", 1)


def test_killed_runner_fails_its_own_step_only_and_leaves_no_child(desk):
    sleep = marked_sleep()
    panel, app = desk.output(PLANS.format(cmd=f"{sleep} | cat & setsid {sleep}"))
    killed, alive = desk.validating("panel", panel), desk.validating("app", app)
    (desk.folder / "go").touch()
    try:
        wait_until(lambda: len(sleepers(sleep)) == 4)
        killed.kill()
        killed.communicate(timeout=10)
        wait_until(lambda: len(sleepers(sleep)) == 2, what="the end of the killed one's children")
        # Until its lease is over nobody can know that it is dead.
        assert desk.row(panel)[0] == "validating"
        wait_until(lambda: desk.output(EXPIRE) == ["1"], seconds=20, what="the lease's end")
        assert desk.row(panel) == ("failed", "runner_crashed", 1)
        assert desk.row(app)[0] == "validating"
        assert len(sleepers(sleep)) == 2
    finally:
        alive.kill()
        alive.communicate(timeout=10)
    wait_until(lambda: not processes(sleep), seconds=5)
