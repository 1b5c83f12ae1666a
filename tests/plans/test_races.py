"""Real processes on one database file: what two do at once happens once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PROJECT, clean_environment

# Each process says it is ready, and acts when its standard input ends: all at the same moment.
SCRIPT = """
import json, os, sys
import django
django.setup()
from coordination.actors import Actor
from coordination.errors import DomainError
from coordination.models import Event
from django.db import connection
from plans.services import plans, steps, tasks, transitions
connection.ensure_connection()
human, panel = Actor.human("ada"), Actor.agent("panel")
print("ready", flush=True)
sys.stdin.read()
try:
    result = {code}
except DomainError as error:
    result = "refused: " + error.code
print(json.dumps(result))
"""

SETUP = """
plan = plans.create_plan(actor=human, project="panel", title="P")
for _ in range(3):
    tasks.add_task(actor=human, plan_id=plan.pk, title="T", instructions="I",
                   validation_mode="shell", validation_rule={"cmd": "true"})
"""


def at_once(file: Path, codes: list[str]) -> list[object]:
    environment = clean_environment(
        MCP_HANDOFF_DB=str(file),
        HANDOFF_DATA_DIR=str(file.parent),
        HANDOFF_ROLE="agent",
        DJANGO_SETTINGS_MODULE="handoff_site.settings",
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT.replace("{code}", code)],
            cwd=PROJECT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for code in codes
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
    return [json.loads(process.stdout.read()) for process in processes if process.wait(60) == 0]


@pytest.fixture
def planned(database_file: Path) -> Path:
    script = SCRIPT.replace("{code}", "None").replace("sys.stdin.read()", SETUP)
    subprocess.run(
        [sys.executable, "-c", script],
        cwd=PROJECT,
        check=True,
        timeout=60,
        stdout=subprocess.DEVNULL,
        env=clean_environment(
            MCP_HANDOFF_DB=str(database_file),
            HANDOFF_DATA_DIR=str(database_file.parent),
            HANDOFF_ROLE="agent",
            DJANGO_SETTINGS_MODULE="handoff_site.settings",
        ),
    )
    return database_file


STATE = "[[t.pk, t.status, t.attempts, t.position] for t in tasks.Task.objects.order_by('id')]"
EVENTS = (
    "list(__import__('coordination.models').models.Event.objects.values_list('verb', flat=True))"
)


def test_twenty_looks_at_once_promote_one_step(planned: Path):
    look = "(lambda found: [found.task.id, found.kind])(steps.next_step(actor=panel))"
    answers = at_once(planned, [look] * 20)
    assert answers == [[1, "current"]] * 20
    state, events = at_once(planned, [STATE, EVENTS])
    assert [row[1] for row in state] == ["current", "pending", "pending"]
    assert events.count("task_promoted") == 1


def test_of_two_validations_at_once_one_begins(planned: Path):
    at_once(planned, ["steps.next_step(actor=panel).kind"])
    begin = "steps.begin_validation(actor=panel, task_id=1, runner_id=str(os.getpid())).status"
    answers = at_once(planned, [begin] * 4)
    assert sorted(answers) == ["refused: wrong_state"] * 3 + ["validating"]
    (state,) = at_once(planned, [STATE])
    assert state[0][1:3] == ["validating", 1]


def test_steps_added_at_once_have_places_of_their_own(planned: Path):
    add = "tasks.add_task(actor=human, plan_id=1, title='T', instructions='I').pk"
    ids = at_once(planned, [add] * 10)
    (state,) = at_once(planned, [STATE])
    assert len(set(ids)) == 10
    assert sorted(row[3] for row in state) == [10 * n for n in range(1, 14)]


def test_a_promotion_and_an_archiving_at_once_never_both_happen(planned: Path):
    archive = "plans.patch_plan(actor=human, plan_id=1, status='archived')"
    look = "steps.next_step(actor=panel).kind"
    answers = at_once(planned, [archive, look] * 3)
    (state,) = at_once(planned, [STATE])
    promoted = state[0][1] == "current"
    assert ("refused: active_step" in answers) == promoted
    assert ("current" in answers) == promoted
