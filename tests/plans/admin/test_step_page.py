"""A step's own page: its fields, its refusals, and what happened to it."""

import pytest
from django.test import Client

from plans.models import Task
from plans.services import steps, tasks
from tests.plans.admin.pages import fields_of, levels
from tests.plans.factories import PANEL, PERSON, make_plan, make_task, snapshot

pytestmark = pytest.mark.django_db
URL = "/admin/plans/task/"


def page(client: Client, task: Task) -> dict[str, str]:
    return fields_of(client.get(f"{URL}{task.pk}/change/"), "task_form")


def save(client: Client, task: Task, fields: dict[str, str]):
    return client.post(f"{URL}{task.pk}/change/", fields | {"_continue": "1"}, follow=True)


def errors(response) -> dict[str, list[str]]:
    return response.context["adminform"].form.errors


def test_a_step_is_edited_with_its_rule(ada: Client):
    task = make_task(make_plan())
    rule = {"check": "http_get_status", "url": "http://127.0.0.1:8000/", "status": "204"}
    answer = save(ada, task, page(ada, task) | rule | {"title": "New", "max_attempts": "2"})
    assert levels(answer) == ["success"]
    found = snapshot(task)
    assert (found.title, found.max_attempts, found.validation_mode) == ("New", 2, "artifact")
    assert found.validation_rule == {
        "rule": "http_get_status", "url": "http://127.0.0.1:8000/", "status": 204,
    }  # fmt: skip
    assert page(ada, task)["check"] == "http_get_status"
    save(ada, task, page(ada, task) | {"check": "manual"})
    assert snapshot(task).validation_rule is None


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"title": " "}, "title"),
        ({"title": "x" * 300}, "title"),
        ({"instructions": ""}, "instructions"),
        ({"max_attempts": "0"}, "max_attempts"),
        ({"check": "nonsense"}, "check"),
        ({"check": "shell", "cmd": ""}, "cmd"),
        ({"check": "shell", "cmd": "true", "timeout": "601"}, "timeout"),
        ({"check": "file_exists", "path": "/etc/passwd"}, "path"),
        ({"check": "file_contains", "path": "a", "text": ""}, "text"),
        ({"check": "http_get_status", "url": "file:///etc/passwd"}, "url"),
        ({"check": "http_get_status", "url": "http://x/", "status": "99"}, "status"),
        ({"check": "several", "rules": "{"}, "rules"),
        ({"check": "several", "rules": "[]"}, "rules"),
    ],
)
def test_a_wrong_value_is_told_at_its_field(ada: Client, typed: dict[str, str], field: str):
    task = make_task(make_plan())
    before = snapshot(task)
    answer = save(ada, task, page(ada, task) | typed)
    assert list(errors(answer)) == [field]
    assert snapshot(task) == before


def test_a_step_is_added_to_a_plan(ada: Client):
    plan = make_plan()
    fields = fields_of(ada.get(f"{URL}add/?plan={plan.pk}"), "task_form")
    assert fields["plan"] == str(plan.pk)
    answer = ada.post(f"{URL}add/", fields | {"title": "t", "instructions": "i"}, follow=True)
    assert levels(answer) == ["success"]
    assert Task.objects.get().plan == plan
    answer = ada.post(f"{URL}add/", fields | {"title": "t", "instructions": "i", "plan": ""})
    assert list(errors(answer)) == ["plan"]


def test_a_step_promoted_under_an_open_page_is_refused_with_what_was_typed(ada: Client):
    task = make_task(make_plan(), title="pending one")
    fields = page(ada, task)
    steps.next_step(actor=PANEL)
    before = snapshot(task)
    answer = save(ada, task, fields | {"title": "mine"})
    assert levels(answer) == []
    assert errors(answer)
    assert snapshot(task) == before
    assert fields_of(answer, "task_form")["title"] == "mine"
    assert '<dd data-stored="title">pending one</dd>' in answer.content.decode()
    assert errors(save(ada, task, fields_of(answer, "task_form")))
    assert snapshot(task) == before


def test_a_newer_save_is_shown_and_can_be_replaced_knowingly(ada: Client):
    task = make_task(make_plan())
    fields = page(ada, task)
    tasks.patch_task(actor=PERSON, task_id=task.pk, title="theirs")
    answer = save(ada, task, fields | {"title": "mine"})
    assert errors(answer)
    assert '<dd data-stored="title">theirs</dd>' in answer.content.decode()
    assert levels(save(ada, task, fields_of(answer, "task_form"))) == ["success"]
    assert snapshot(task).title == "mine"


@pytest.mark.parametrize("status", ["current", "awaiting_human", "validating"])
def test_an_active_steps_page_has_nothing_to_edit(ada: Client, status: str):
    task = make_task(make_plan(), status, last_proof="It **works**")
    answer = ada.get(f"{URL}{task.pk}/change/")
    names = set(fields_of(answer, "task_form")) - {"csrfmiddlewaretoken"}
    assert names <= {"version", "seen"}
    text = answer.content.decode()
    assert 'name="_save"' not in text
    assert "<strong>works</strong>" in text


def test_what_agents_and_people_write_is_never_markup(ada: Client):
    bad = "<script>alert(1)</script><img src=x onerror=alert(1)>[x](javascript:alert(1))"
    plan = make_plan(title=bad)
    task = make_task(plan, "awaiting_human", title=bad, instructions=bad, last_proof=bad,
                     last_error=bad, validation_mode="shell",
                     validation_rule={"cmd": bad, "timeout": 1})  # fmt: skip
    make_task(plan, title=bad, instructions=bad)
    for url in (
        URL, f"{URL}{task.pk}/change/", f"{URL}{task.pk}/do/reject/", f"{URL}{task.pk}/delete/",
        "/admin/plans/plan/", f"/admin/plans/plan/{plan.pk}/change/",
        f"/admin/plans/plan/{plan.pk}/delete/",
    ):  # fmt: skip
        text = ada.get(url).content.decode()
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert 'href="javascript' not in text


def test_markdown_is_previewed_sanitised(ada: Client):
    answer = ada.post(f"{URL}preview/", {"text": "**b** <script>x</script>"})
    assert "<strong>b</strong>" in answer.content.decode()
    assert "<script>" not in answer.content.decode()


def test_the_page_tells_what_happened(ada: Client):
    plan = make_plan()
    task = make_task(plan, title="walked")
    steps.next_step(actor=PANEL)
    for url in (f"{URL}{task.pk}/change/", f"/admin/plans/plan/{plan.pk}/change/"):
        (line,) = ada.get(url).context["activity"]
        assert (line.actor, line.text, line.title) == ("panel", "began the step", "walked")


def test_an_unknown_object_is_told(ada: Client):
    for url in (f"{URL}999/change/", f"{URL}x/change/", "/admin/plans/plan/999/change/"):
        assert levels(ada.get(url, follow=True)) == ["warning"]
