"""Plans are copied, taken out and taken in whole, by people only, or not at all."""

import datetime as dt
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from coordination.actors import Actor
from coordination.errors import Forbidden, Invalid, MissingFields, NotFound
from coordination.models import Event, Session
from coordination.selectors.waiting import waiting_longest
from coordination.services import messages
from plans.models import Plan, Task
from plans.portable.export import export_plan
from plans.selectors.silence import silent_steps
from plans.services.copies import add_tasks_from_list, duplicate_plan, import_plan
from plans.states import TaskStatus
from tests.plans.factories import APP, PANEL, PERSON, make_plan, make_task

pytestmark = pytest.mark.django_db
WRITTEN = ("title", "instructions", "validation_mode", "validation_rule", "max_attempts")
SHELL = {"validation_mode": "shell", "validation_rule": {"cmd": "make test", "timeout": 60}}


def written(plan):
    rows = Task.objects.filter(plan=plan).order_by("position", "id")
    return list(rows.values_list(*WRITTEN))


@pytest.fixture
def plan():
    """A plan that is halfway done, its steps out of the order of their ids."""
    plan = make_plan(title="Mise en production")
    make_task(plan, TaskStatus.DONE, title="Deux", position=20, attempts=1, last_proof="fait")
    make_task(plan, TaskStatus.DONE, title="Un", position=10, **SHELL)
    make_task(plan, TaskStatus.CURRENT, title="Trois", position=30, max_attempts=3)
    return plan


def test_a_copy_has_the_same_steps_all_pending_at_the_end_of_the_queue(plan):
    copy = duplicate_plan(actor=PERSON, plan_id=plan.pk)
    assert copy.title == "Mise en production (copie)"
    assert (copy.project_id, copy.status) == ("panel", "active")
    assert written(copy) == written(plan)
    rows = Task.objects.filter(plan=copy)
    assert set(rows.values_list("status", "attempts", "last_proof", "last_error")) == {
        ("pending", 0, "", "")
    }
    assert sorted(rows.values_list("position", flat=True)) == [10, 20, 30]
    assert written(plan)[0][0] == "Un"
    assert Event.objects.latest("pk").verb == "plan_created"


def test_a_copy_may_go_to_another_project_under_another_title(plan):
    copy = duplicate_plan(actor=PERSON, plan_id=plan.pk, title="Bis", project="app")
    assert (copy.title, copy.project_id) == ("Bis", "app")
    long = make_plan(title="é" * 200)
    assert len(duplicate_plan(actor=PERSON, plan_id=long.pk).title) == 200


def test_only_people_copy_and_only_what_exists(plan):
    before = Plan.objects.count()
    with pytest.raises(Forbidden):
        duplicate_plan(actor=PANEL, plan_id=plan.pk)
    with pytest.raises(NotFound):
        duplicate_plan(actor=PERSON, plan_id=plan.pk + 1)
    with pytest.raises(Invalid):
        duplicate_plan(actor=PERSON, plan_id=plan.pk, project="human")
    with pytest.raises(MissingFields):
        duplicate_plan(actor=PERSON, plan_id=plan.pk, title=" ")
    assert Plan.objects.count() == before


def test_rest_copies_a_plan(plan, admin_client):
    answer = admin_client.post(f"/api/plans/{plan.pk}/duplicate", content_type="application/json")
    assert answer.status_code == 201
    assert [step["title"] for step in answer.json()["tasks"]] == ["Un", "Deux", "Trois"]
    body = json.dumps({"title": "Bis", "project": "app"})
    answer = admin_client.post(
        f"/api/plans/{plan.pk}/duplicate", body, content_type="application/json"
    )
    assert (answer.json()["title"], answer.json()["project"]) == ("Bis", "app")
    for wanted, status in (({"project": "nobody"}, 422), ({"titel": "x"}, 422)):
        refused = admin_client.post(
            f"/api/plans/{plan.pk}/duplicate", json.dumps(wanted), content_type="application/json"
        )
        assert refused.status_code == status
    absent = admin_client.post("/api/plans/999999/duplicate", content_type="application/json")
    assert absent.status_code == 404


def test_what_is_exported_is_imported_the_same(plan):
    copy = import_plan(actor=PERSON, text=export_plan(plan_id=plan.pk))
    assert (copy.title, copy.project_id) == (plan.title, "panel")
    assert written(copy) == written(plan)
    assert set(Task.objects.filter(plan=copy).values_list("status", flat=True)) == {"pending"}
    assert export_plan(plan_id=copy.pk) == export_plan(plan_id=plan.pk)


def test_a_text_with_faults_changes_nothing_and_tells_all_of_them():
    text = (
        "---\ntitle: x\nproject: panel\n---\n## Un\nFais.\n## Deux\n\n## Trois\nFais.\n"
        "```validation\nmode: shell\nrule: {timeout: 3}\n```\n## " + "t" * 201 + "\nFais.\n"
        "## Cinq\nFais.\n```validation\nmode: [3]\n```\n## Six\nFais.\n```validation\nx: y\n```\n"
    )
    with pytest.raises(Invalid) as refused:
        import_plan(actor=PERSON, text=text)
    lines = refused.value.message.splitlines()
    assert [line.partition(" : ")[0] for line in lines] == [
        f"ligne {number}" for number in (7, 9, 15, 17, 25)
    ]
    assert "instructions" in lines[0]
    assert "validation_rule.cmd" in lines[1]
    assert not Plan.objects.exists()
    assert not Event.objects.exists()


@pytest.mark.parametrize(
    "front", ["title: x", "title: x\nproject: nobody", "title: x\nproject: human", "project: panel"]
)
def test_a_text_without_title_or_project_is_refused_with_a_line(front):
    with pytest.raises(Invalid, match=r"^ligne \d+ : "):
        import_plan(actor=PERSON, text=f"---\n{front}\n---\n## Un\nFais.\n")
    assert not Plan.objects.exists()


def test_only_people_import():
    with pytest.raises(Forbidden):
        import_plan(actor=PANEL, text="---\ntitle: x\nproject: panel\n---\n")


def run(*arguments):
    out = StringIO()
    call_command("plan", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_the_command_writes_a_file_and_takes_it_in_elsewhere(plan, tmp_path):
    Task.objects.filter(plan=plan, title="Trois").update(instructions="à\r\nla\rligne")
    path = tmp_path / "un plan é.md"
    run("export", plan.pk, path)
    assert path.read_bytes().decode() == run("export", plan.pk)
    told = run("import", path, "--project", "app")
    copy = Plan.objects.latest("pk")
    assert told == f"Plan #{copy.pk} ajouté à app : Mise en production\n"
    assert (copy.project_id, written(copy)) == ("app", written(plan))


def test_the_command_refuses_in_a_sentence(plan, tmp_path):
    path = tmp_path / "plan.md"
    run("export", plan.pk, path)
    with pytest.raises(CommandError, match="--force"):
        run("export", plan.pk, path)
    run("export", plan.pk, path, "--force")
    path.write_bytes(b"---\ntitle: \xe9\n---\n")
    for arguments, words in (
        (("import", path), "ligne 2"),
        (("import", tmp_path / "absent.md"), "absent.md"),
        (("import", tmp_path), str(tmp_path)),
        (("export", 999_999), "999999"),
        (("export", plan.pk, tmp_path / "absent" / "x.md"), "x.md"),
    ):
        with pytest.raises(CommandError, match=words):
            run(*arguments)
    assert Plan.objects.count() == 1


def test_a_pasted_list_is_added_whole_at_the_end_and_reopens_a_done_plan():
    plan = make_plan(status="done")
    make_task(plan, TaskStatus.DONE, position=70)
    tasks = add_tasks_from_list(actor=PERSON, plan_id=plan.pk, text="- Un\n  ainsi\n- Deux\n")
    assert [(task.title, task.instructions, task.position) for task in tasks] == [
        ("Un", "ainsi", 80),
        ("Deux", "Deux", 90),
    ]
    plan.refresh_from_db()
    assert plan.status == "active"
    verbs = list(Event.objects.order_by("pk").values_list("verb", flat=True))
    assert verbs == ["task_added", "task_added", "plan_reopened"]


@pytest.mark.parametrize("text", ["avant\n- un", "- un\n- " + "x\n" + "- x\n" * 500, "- a\x00b"])
def test_a_pasted_list_with_a_fault_adds_nothing(text):
    plan = make_plan()
    with pytest.raises(Invalid, match="ligne"):
        add_tasks_from_list(actor=PERSON, plan_id=plan.pk, text=text)
    with pytest.raises(MissingFields):
        add_tasks_from_list(actor=PERSON, plan_id=plan.pk, text=" \n")
    with pytest.raises(Forbidden):
        add_tasks_from_list(actor=PANEL, plan_id=plan.pk, text="- un")
    assert not Task.objects.exists()


def test_a_current_step_is_silent_since_the_last_call_of_its_session():
    now = timezone.now()

    def ago(minutes):
        return now - dt.timedelta(minutes=minutes)

    Session.objects.filter(key="panel").update(last_seen=ago(5))
    Session.objects.filter(key="app").update(last_seen=ago(90))
    mine = make_task(make_plan("panel"), TaskStatus.CURRENT, status_since=ago(60))
    sent_back = make_task(make_plan("app"), TaskStatus.CURRENT, status_since=ago(30))
    make_task(make_plan("app"), TaskStatus.AWAITING_HUMAN, status_since=ago(60))
    make_task(make_plan("app", status="paused"), TaskStatus.CURRENT, status_since=ago(60))
    found = silent_steps(now=now)
    assert [(step.id, step.seconds) for step in found] == [(sent_back.pk, 1800), (mine.pk, 300)]
    assert found[1].current_since == ago(60)
    assert [step.id for step in silent_steps(at_least=600, now=now)] == [sent_back.pk]


def test_the_open_questions_that_waited_longest_come_first():
    first = messages.ask(actor=APP, to="panel", subject="Q", body="b")
    second = messages.broadcast(actor=Actor.human(), subject="Q", body="b")
    answered = messages.ask(actor=APP, to="panel", subject="Q", body="b")
    messages.answer(actor=PANEL, message_id=answered.pk, body="r")
    now = first.created_at + dt.timedelta(minutes=3)
    assert [one.id for one in waiting_longest(now=now)] == [first.pk, second.pk]
    assert waiting_longest(now=now)[0].seconds == 180
    assert [one.id for one in waiting_longest(limit=1, now=now)] == [first.pk]
    assert waiting_longest(at_least=181, now=now) == []
