"""`manage.py import_handoff` takes over the original server's file, whole or not at all, once."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from coordination.actors import Actor
from coordination.models import Event, Message, Session
from coordination.services import messages
from plans.models import Plan, Task
from plans.services.imports.source import Unreadable
from plans.services.imports.store import Report, import_handoff
from tests.plans.factories import make_plan, make_task

pytestmark = pytest.mark.django_db

SCHEMA = """
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, parent_id INTEGER, from_session TEXT
  NOT NULL, to_session TEXT, subject TEXT, body TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'open',
  created_at INTEGER NOT NULL, resolved_at INTEGER);
CREATE TABLE sessions (name TEXT PRIMARY KEY, last_seen INTEGER NOT NULL);
CREATE TABLE plans (id INTEGER PRIMARY KEY, project TEXT, title TEXT, status TEXT,
  created_at INTEGER, updated_at INTEGER);
CREATE TABLE tasks (id INTEGER PRIMARY KEY, plan_id INTEGER, position INTEGER, title TEXT,
  instructions TEXT, validation_mode TEXT, validation_rule TEXT, status TEXT, attempts INTEGER,
  last_proof TEXT, last_error TEXT, started_at INTEGER, completed_at INTEGER,
  created_at INTEGER, updated_at INTEGER);
"""
T = 1_715_250_000
ROWS = f"""
INSERT INTO messages VALUES
  (1, NULL, 'panel', 'app', 'Été', 'Why?', 'answered', {T}, {T + 9}),
  (2, 1, 'app', 'panel', NULL, 'So.', 'closed', {T + 9}, NULL),
  (3, NULL, 'mobile', NULL, 'All', 'Hear!', 'open', {T}, NULL);
INSERT INTO sessions VALUES ('panel', {T}), ('mobile', {T});
INSERT INTO plans VALUES (1, 'app', 'Plan', 'active', {T}, {T}), (2, 'app', 'Old', 'archived',
  {T}, {T}), (3, 'panel', 'All done', 'active', {T}, {T});
INSERT INTO tasks VALUES
  (1, 1, 10, 'One', 'i', 'manual', NULL, 'done', 1, 'p', NULL, {T}, {T}, {T}, {T}),
  (2, 1, 20, 'Two', 'i', 'shell', '{{"cmd":"true"}}', 'validating', 1, NULL, NULL, {T}, NULL,
   {T}, {T}),
  (3, 2, 10, 'Three', 'i', 'manual', NULL, 'current', 0, NULL, NULL, {T}, NULL, {T}, {T}),
  (4, 3, 10, 'Four', 'i', 'manual', '', 'skipped', 0, NULL, NULL, NULL, NULL, {T}, {T});
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "original.sqlite"
    run(path, SCHEMA + ROWS)
    return path


def run(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(script)


def counts() -> tuple[int, ...]:
    models = (Session, Message, Plan, Task, Event)
    return tuple(model.objects.count() for model in models)


def test_everything_comes_in_under_its_own_id(path: Path):
    report = import_handoff(path=path)
    assert (report.stored, report.faults, sum(report.renumbered.values())) == (True, [], 0)
    question, answer = Message.objects.get(pk=1), Message.objects.get(pk=2)
    assert (question.status, question.subject_folded) == ("answered", "ete")
    assert (answer.parent_id, answer.status, answer.subject) == (1, "closed", "")
    assert int(question.created_at.timestamp()) == T
    assert Session.objects.get(pk="mobile").last_seen.timestamp() == T
    assert Task.objects.get(pk=1).last_proof == "p"
    assert Task.objects.get(pk=2).validation_rule == {"cmd": "true", "timeout": 120}


def test_what_cannot_go_on_as_it_was_is_noted(path: Path):
    report = import_handoff(path=path)
    crashed = Task.objects.get(pk=2)
    assert (crashed.status, crashed.last_error) == ("failed", "runner_crashed")
    assert Plan.objects.get(pk=2).status == "paused"
    assert Plan.objects.get(pk=3).status == "done"
    assert len(report.notes) == 2


def test_taken_ids_are_given_anew_and_links_follow(path: Path):
    mine = messages.ask(actor=Actor.agent("app"), to="panel", subject="Mine", body="b")
    kept = make_task(make_plan(pk=1))
    report = import_handoff(path=path)
    assert report.renumbered["plans"] == 1
    assert Message.objects.get(pk=mine.pk).subject == "Mine"
    assert Task.objects.get(pk=kept.pk).title == "A step"
    question = Message.objects.get(subject="Été")
    assert question.answers.get().body == "So."
    plan = Plan.objects.get(title="Plan")
    assert [task.title for task in plan.tasks.all()] == ["One", "Two"]


def test_importing_again_adds_nothing_but_what_is_new(path: Path):
    import_handoff(path=path)
    before = counts()
    again = import_handoff(path=path)
    assert (sum(again.added.values()), counts()) == (0, before)
    run(path, f"INSERT INTO messages VALUES (4, 3, 'app', 'mobile', NULL, 'OK', 'closed', {T}, 1)")
    assert import_handoff(path=path).added == {"messages": 1}
    assert Message.objects.get(pk=3).status == "answered"


def test_what_was_deleted_here_does_not_come_back(path: Path):
    import_handoff(path=path)
    Plan.objects.filter(pk=1).delete()
    before = counts()
    import_handoff(path=path)
    assert counts() == before


def test_a_dry_run_changes_nothing(path: Path):
    before = counts()
    report = import_handoff(path=path, dry_run=True)
    assert (report.stored, report.added["tasks"], counts()) == (False, 4, before)


BAD = {
    "messages 5": f"INSERT INTO messages VALUES (5, 99, 'app', NULL, 's', 'b', 'closed', {T}, 1)",
    "messages 6": f"INSERT INTO messages VALUES (6, 2, 'app', NULL, 's', 'b', 'closed', {T}, 1)",
    "messages 7": f"INSERT INTO messages VALUES (7, NULL, 'a b', 'app', 's', 'b', 'open', {T}, 1)",
    "messages 8": f"INSERT INTO messages VALUES (8, NULL, 'app', 'app', 's', 'b', 'open', {T}, 1)",
    "messages 9": f"INSERT INTO messages VALUES (9, NULL, 'app', NULL, '', 'b', 'open', {T}, 1)",
    "messages 10": "INSERT INTO messages VALUES (10, NULL, 'app', NULL, 's', 'b', 'open', 'x', 1)",
    "messages 11": f"INSERT INTO messages VALUES (11, NULL, 'app', NULL, 's', CAST(x'ff' AS TEXT),"
    f" 'open', {T}, NULL)",
    "plans 5": f"INSERT INTO plans VALUES (5, 'human', 'P', 'active', {T}, {T})",
    "plans 6": f"INSERT INTO plans VALUES (6, 'app', '{'x' * 300}', 'active', {T}, {T})",
    "plans 7": f"INSERT INTO plans VALUES (7, 'app', 'P', 'on', {T}, {T})",
    "tasks 5": f"INSERT INTO tasks VALUES (5, 77, 10, 't', 'i', 'manual', NULL, 'done', 0, NULL,"
    f" NULL, NULL, NULL, {T}, {T})",
    "tasks 6": f"INSERT INTO tasks VALUES (6, 1, 10, 't', 'i', 'shell', '{{', 'done', 0, NULL,"
    f" NULL, NULL, NULL, {T}, {T})",
    "tasks 7": f"INSERT INTO tasks VALUES (7, 1, 10, 't', 'i', 'shell', '{{\"cmd\":\"#\"}}',"
    f" 'done', 0, NULL, NULL, NULL, NULL, {T}, {T})",
    "tasks 8": f"INSERT INTO tasks VALUES (8, 2, 20, 't', 'i', 'manual', NULL, 'current', 0, NULL,"
    f" NULL, NULL, NULL, {T}, {T})",
}


@pytest.mark.parametrize("row", BAD)
def test_a_bad_row_is_named_and_nothing_comes_in(path: Path, row: str):
    run(path, BAD[row])
    before = counts()
    report: Report = import_handoff(path=path)
    assert [f"{fault.table} {fault.id}" for fault in report.faults] == [row]
    assert (report.stored, counts()) == (False, before)


def test_the_command_reports_bad_rows_and_can_leave_them_out(
    path: Path, capsys: pytest.CaptureFixture[str]
):
    run(path, BAD["tasks 7"])
    with pytest.raises(CommandError):
        call_command("import_handoff", path)
    assert "tasks 7" in capsys.readouterr().out
    assert not Plan.objects.exists()
    call_command("import_handoff", path, skip_bad=True)
    assert Task.objects.count() == 4


def test_only_the_original_servers_file_is_taken(tmp_path: Path):
    text, other = tmp_path / "text", tmp_path / "other.sqlite"
    text.write_text("hello, this is no database at all")
    run(other, "CREATE TABLE things (id INTEGER)")
    for wrong in (text, other, tmp_path / "absent", tmp_path):
        with pytest.raises(Unreadable, match=str(wrong)):
            import_handoff(path=wrong)


def test_the_file_itself_is_not_changed(path: Path):
    before = path.read_bytes()
    import_handoff(path=path)
    assert path.read_bytes() == before
