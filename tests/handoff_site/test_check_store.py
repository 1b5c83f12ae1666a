"""`manage.py check_store` explains what it finds, and exits with 1 when something must never be."""

import datetime as dt
import io
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone, translation

from coordination.actors import Actor
from coordination.models import Event, Message, Session
from coordination.selectors import migrations
from coordination.services import messages
from handoff_site import soundness
from plans.models import Plan, PlanStatus, Task, TaskStatus
from plans.services.steps import begin_validation, next_step
from tests.databases import sqlite_only
from tests.plans.factories import make_plan, make_task

pytestmark = pytest.mark.django_db
LATER = "9999_later"


@pytest.fixture(autouse=True)
def _database_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the look at the file pass: tests' databases have none."""
    if connection.vendor == "sqlite":
        monkeypatch.setattr(soundness, "_file", lambda: ())
        monkeypatch.setattr(soundness, "APPS", ("coordination", "plans"))


def look() -> tuple[str, bool]:
    """Return what it says, and whether it found the store sound."""
    said = io.StringIO()
    with translation.override("en"):
        try:
            call_command("check_store", stdout=said)
        except CommandError:
            return said.getvalue(), False
    return said.getvalue(), True


def test_what_the_services_wrote_is_sound() -> None:
    make_task(make_plan())
    question = messages.broadcast(actor=Actor.agent("panel"), subject="s", body="b")
    messages.answer(actor=Actor.agent("app"), message_id=question.pk, body="b")
    said, sound = look()
    assert sound, said
    assert "FAULT" not in said
    assert "note" not in said.replace("note   The server keeps no checksums", "")


def _task(status: TaskStatus, **values: object) -> Callable[[], None]:
    def spoil() -> None:
        task = make_task(make_plan())
        Task.objects.filter(pk=task.pk).update(status=status, **values)

    return spoil


def _plan(status: PlanStatus, step: TaskStatus = TaskStatus.PENDING) -> Callable[[], None]:
    def spoil() -> None:
        task = make_task(make_plan())
        Plan.objects.filter(pk=task.plan_id).update(status=status)
        Task.objects.filter(pk=task.pk).update(status=step)

    return spoil


def _answer_of_an_answer() -> None:
    question = messages.broadcast(actor=Actor.agent("panel"), subject="s", body="b")
    first, second = (
        messages.answer(actor=Actor.agent("app"), message_id=question.pk, body="b")
        for _number in range(2)
    )
    Message.objects.filter(pk=second.pk).update(parent=first.pk)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_answer_of_an_answer, "belong to an answer instead of a question"),
        (_plan(PlanStatus.ARCHIVED, TaskStatus.CURRENT), "archived plans have an active step"),
        (_plan(PlanStatus.DONE), "count as done although a step is left"),
        (_plan(PlanStatus.ACTIVE, TaskStatus.SKIPPED), "do not count as done"),
        (_task(TaskStatus.VALIDATING), "validated by another than their mode says"),
        (_task(TaskStatus.CURRENT, runner_id="x"), "held by a runner although nothing"),
        (_task(TaskStatus.PENDING, completed_at=timezone.now()), "are not settled"),
        (_task(TaskStatus.PENDING, validation_mode="shell"), "by a rule and have none"),
    ],
)
def test_what_must_never_be_is_a_fault(spoil: Callable[[], None], words: str) -> None:
    spoil()
    said, sound = look()
    assert not sound
    assert any(line.startswith("FAULT") and words in line for line in said.splitlines()), said


def _lost_runner() -> None:
    plan = make_plan()
    task = make_task(plan, validation_mode="shell", validation_rule={"cmd": "true"})
    agent = Actor.agent(plan.project_id)
    next_step(actor=agent)
    begin_validation(actor=agent, task_id=task.pk, runner_id="x")
    Task.objects.update(lease_expires_at=timezone.now() - dt.timedelta(hours=1))


def _old_event() -> None:
    at = timezone.now() - dt.timedelta(days=400)
    Event.objects.create(at=at, actor="a", verb="v", subject="s")


def _clock_ahead() -> None:
    Session.objects.filter(key="app").update(last_seen=timezone.now() + dt.timedelta(hours=1))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_lost_runner, "have lost their runner"),
        (_old_event, "are past their age"),
        (_clock_ahead, "clock is wrong"),
    ],
)
def test_what_is_worth_knowing_is_a_note_and_no_failure(
    spoil: Callable[[], None], words: str
) -> None:
    spoil()
    said, sound = look()
    assert sound, said
    assert any(line.startswith("note") and words in line for line in said.splitlines()), said


def test_a_missing_migration_ends_the_look(monkeypatch: pytest.MonkeyPatch) -> None:
    known = migrations.known_migrations() | {("plans", LATER)}
    monkeypatch.setattr(migrations, "known_migrations", lambda: known)
    said, sound = look()
    assert not sound
    assert f"plans {LATER} is missing: run manage.py migrate" in said


def test_a_newer_database_ends_the_look(monkeypatch: pytest.MonkeyPatch) -> None:
    applied = migrations.applied_migrations() | {("plans", LATER)}
    monkeypatch.setattr(soundness, "applied_migrations", lambda: applied)
    said, sound = look()
    assert not sound
    assert f"plans {LATER} is from a newer version" in said


def test_a_rule_dropped_by_hand_is_a_fault() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX plan_queue")
    said, sound = look()
    assert not sound
    assert "lacks the rule or index plan_queue" in said


@sqlite_only
def test_the_room_beside_a_sqlite_file_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "h.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE t (id)")
    Path(f"{path}-wal").write_bytes(b"")
    monkeypatch.setattr(soundness, "WAL_MAX", -1)
    monkeypatch.setattr(soundness.shutil, "disk_usage", lambda _path: SimpleNamespace(free=1e6))
    with translation.override("en"):
        said = [finding.sentence for finding in soundness._log_and_room(path, 1000)]
    assert any("The log beside it has 0 MB" in sentence for sentence in said)
    assert any("The disk has 1 MB left" in sentence for sentence in said)
