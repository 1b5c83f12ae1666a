"""A plan and its steps are written on one page: all of it is saved, or nothing."""

import pytest
from django.test import Client

from coordination.models import Event
from plans.models import Plan, Task
from plans.services import steps, tasks
from tests.plans.admin.pages import fields_of, levels, refusals, said
from tests.plans.factories import PANEL, PERSON, make_plan, make_task, snapshot

pytestmark = pytest.mark.django_db
URL = "/admin/plans/plan/"
SHELL = {"validation_mode": "shell", "validation_rule": {"cmd": "make\nmake check", "timeout": 60}}


def page(client: Client, plan: Plan) -> dict[str, str]:
    return fields_of(client.get(f"{URL}{plan.pk}/change/"))


def save(client: Client, plan: Plan, fields: dict[str, str]):
    return client.post(f"{URL}{plan.pk}/change/", fields | {"_continue": "1"}, follow=True)


def titles(plan: Plan) -> list[str]:
    return list(Task.objects.filter(plan=plan).values_list("title", flat=True))


def three(plan: Plan) -> list[Task]:
    return [make_task(plan, title=title) for title in ("a", "b", "c")]


def test_a_plan_is_added_with_its_steps(ada: Client):
    fields = fields_of(ada.get(f"{URL}add/"))
    new = {
        "project": "panel",
        "title": "Fresh",
        "steps-order": "new-1,new-0,new-2",
        "steps-new-0-title": "second",
        "steps-new-0-instructions": "x",
        "steps-new-0-check": "shell",
        "steps-new-0-cmd": "true\r\nmake test",
        "steps-new-0-max_attempts": "3",
        "steps-new-1-title": "first",
        "steps-new-1-instructions": "y",
        "steps-new-1-check": "file_contains",
        "steps-new-1-path": "out.txt",
        "steps-new-1-text": "ok",
        "steps-new-1-max_attempts": "1",
        "steps-new-2-title": "",
        "steps-new-2-instructions": "",
        "steps-new-2-check": "manual",
        "steps-new-2-max_attempts": "1",
    }
    answer = ada.post(f"{URL}add/", fields | new, follow=True)
    assert levels(answer) == ["success"]
    plan = Plan.objects.get(title="Fresh")
    first, second = Task.objects.filter(plan=plan)
    assert (first.title, second.title, second.max_attempts) == ("first", "second", 3)
    assert second.validation_rule == {"cmd": "true\nmake test", "timeout": 120}
    assert first.validation_rule == {"rule": "file_contains", "path": "out.txt", "text": "ok"}
    assert set(Event.objects.values_list("actor", flat=True)) == {"human:ada"}


def test_a_wrong_rule_is_told_at_its_field_and_nothing_is_kept(ada: Client):
    fields = fields_of(ada.get(f"{URL}add/"))
    new = {
        "project": "panel",
        "title": "Fresh",
        "steps-order": "new-0",
        "steps-new-0-title": "t",
        "steps-new-0-instructions": "x",
        "steps-new-0-check": "file_exists",
        "steps-new-0-path": "../secret",
        "steps-new-0-max_attempts": "1",
    }
    answer = ada.post(f"{URL}add/", fields | new)
    row = answer.context["adminform"].form.steps.rows[0]
    assert "must not leave" in row.form.errors["path"][0]
    assert fields_of(answer)["steps-new-0-path"] == "../secret"
    assert not Plan.objects.exists()
    again = ada.post(
        f"{URL}add/", fields_of(answer) | {"steps-new-0-path": "a", "steps-order": "new-0"}
    )
    assert again.status_code == 302
    assert Task.objects.get().validation_rule == {"rule": "file_exists", "path": "a"}


@pytest.mark.parametrize("title", ["", "   ", "x" * 300])
def test_a_bad_title_is_a_form_error(ada: Client, title: str):
    plan = make_plan()
    answer = save(ada, plan, page(ada, plan) | {"title": title})
    assert answer.context["adminform"].form.errors["title"]
    assert Plan.objects.get().title == "A plan"


def test_a_page_sent_back_untouched_changes_nothing(ada: Client):
    plan = make_plan()
    make_task(plan, title="a", instructions="one\n\ntwo ", **SHELL)
    make_task(
        plan,
        title="b",
        validation_mode="artifact",
        validation_rule={"rule": "file_contains", "path": "x", "text": " a\nb "},
    )
    make_task(plan, title="c", validation_mode="artifact",
              validation_rule=[{"rule": "file_exists", "path": "é"}])  # fmt: skip
    before = [snapshot(task) for task in Task.objects.all()]
    answer = save(ada, plan, page(ada, plan))
    assert levels(answer) == ["success"]
    assert [snapshot(task) for task in Task.objects.all()] == before
    assert not Event.objects.exists()


def test_edit_add_move_and_delete_are_one_save(ada: Client):
    plan = make_plan()
    a, b, c = three(plan)
    fields = page(ada, plan) | {
        "title": "Renamed",
        f"steps-{a.pk}-title": "A",
        f"steps-{b.pk}-delete": "on",
        "steps-order": f"{c.pk},new-0,{b.pk},{a.pk}",
        "steps-new-0-title": "between",
        "steps-new-0-instructions": "x",
        "steps-new-0-check": "manual",
        "steps-new-0-max_attempts": "1",
    }
    assert levels(save(ada, plan, fields)) == ["success"]
    assert titles(plan) == ["c", "between", "A"]
    assert Plan.objects.get().title == "Renamed"


def test_one_refused_row_keeps_the_whole_page_from_being_saved(ada: Client):
    plan = make_plan()
    a, b, _c = three(plan)
    fields = page(ada, plan)
    tasks.patch_task(actor=PERSON, task_id=b.pk, title="theirs")
    changed = {f"steps-{a.pk}-title": "mine a", f"steps-{b.pk}-title": "mine b", "title": "New"}
    answer = save(ada, plan, fields | changed)
    assert levels(answer) == []
    assert titles(plan) == ["a", "theirs", "c"]
    assert Plan.objects.get().title == "A plan"


def test_a_refused_save_shows_both_texts_and_can_then_be_repeated(ada: Client):
    plan = make_plan()
    a, _b, _c = three(plan)
    fields = page(ada, plan)
    tasks.patch_task(actor=PERSON, task_id=a.pk, instructions="their words")
    answer = save(ada, plan, fields | {f"steps-{a.pk}-instructions": "my words"})
    assert "changed meanwhile" in " ".join(refusals(answer))
    text = answer.content.decode()
    assert '<pre data-stored="instructions">their words</pre>' in text
    kept = fields_of(answer)
    assert kept[f"steps-{a.pk}-instructions"] == "my words"
    assert levels(save(ada, plan, kept)) == ["success"]
    assert snapshot(a).instructions == "my words"


def test_a_title_renamed_meanwhile_is_not_overwritten_unseen(ada: Client):
    plan = make_plan()
    a, *_ = three(plan)
    fields = page(ada, plan)
    other = Client()
    other.force_login(ada.get(URL).wsgi_request.user)
    save(ada, plan, fields | {"title": "Theirs"})
    answer = save(ada, plan, fields | {"title": "Mine", f"steps-{a.pk}-title": "A"})
    assert "Stored now: “Theirs”." in " ".join(refusals(answer))
    assert (Plan.objects.get().title, titles(plan)[0]) == ("Theirs", "a")
    kept = fields_of(answer)
    assert kept["title"] == "Mine"
    save(ada, plan, kept)
    assert (Plan.objects.get().title, titles(plan)[0]) == ("Mine", "A")


def test_a_step_promoted_under_an_open_page_is_not_edited(ada: Client):
    plan = make_plan()
    a, *_ = three(plan)
    fields = page(ada, plan)
    steps.next_step(actor=PANEL)
    before = snapshot(a)
    answer = save(ada, plan, fields | {f"steps-{a.pk}-title": "mine"})
    assert levels(answer) == []
    assert refusals(answer)
    assert snapshot(a) == before
    assert before.status == "current"
    assert before.started_at
    assert fields_of(answer)[f"steps-{a.pk}-title"] == "mine"


def test_a_step_promoted_under_an_open_page_is_neither_moved_nor_deleted(ada: Client):
    plan = make_plan()
    a, b, c = three(plan)
    fields = page(ada, plan)
    steps.next_step(actor=PANEL)
    for order in (f"{b.pk},{a.pk},{c.pk}", f"{b.pk},{c.pk},{a.pk}"):
        assert refusals(save(ada, plan, fields | {"steps-order": order}))
    assert refusals(save(ada, plan, fields | {f"steps-{a.pk}-delete": "on"}))
    assert titles(plan) == ["a", "b", "c"]


def test_a_page_that_left_the_promoted_step_alone_is_saved_and_says_so(ada: Client):
    plan = make_plan()
    a, _b, c = three(plan)
    fields = page(ada, plan)
    steps.next_step(actor=PANEL)
    answer = save(ada, plan, fields | {f"steps-{c.pk}-title": "C"})
    assert sorted(levels(answer)) == ["success", "warning"]
    assert f"#{a.pk}" in next(text for level, text in said(answer) if level == "warning")
    assert titles(plan) == ["a", "b", "C"]
    assert snapshot(a).status == "current"


@pytest.mark.parametrize("status", ["current", "awaiting_human", "validating"])
def test_an_active_step_is_text_and_what_is_sent_for_it_is_refused(ada: Client, status: str):
    plan = make_plan()
    make_task(plan, title="first")
    active = make_task(plan, status, title="at work")
    fields = page(ada, plan)
    assert f"steps-{active.pk}-title" not in fields
    typed = {
        f"steps-{active.pk}-title": "mine",
        f"steps-{active.pk}-instructions": "x",
        f"steps-{active.pk}-check": "manual",
        f"steps-{active.pk}-max_attempts": "1",
    }
    before = snapshot(active)
    assert "cannot be edited" in " ".join(refusals(save(ada, plan, fields | typed)))
    deletion = {f"steps-{active.pk}-delete": "on"}
    assert "cannot be edited" in " ".join(refusals(save(ada, plan, fields | deletion)))
    assert snapshot(active) == before


def test_other_steps_move_around_an_active_one(ada: Client):
    plan = make_plan()
    a = make_task(plan, "current", title="a")
    b, c = make_task(plan, title="b"), make_task(plan, title="c")
    answer = save(ada, plan, page(ada, plan) | {"steps-order": f"{c.pk},{a.pk},{b.pk}"})
    assert levels(answer) == ["success"]
    assert titles(plan) == ["c", "a", "b"]
    moved = Event.objects.filter(verb="task_moved").values_list("subject", flat=True)
    assert list(moved) == [f"task:{c.pk}"]


def test_a_step_deleted_meanwhile_is_not_saved_and_its_text_stays(ada: Client):
    plan = make_plan()
    a, b, _c = three(plan)
    fields = page(ada, plan)
    tasks.delete_task(actor=PERSON, task_id=a.pk)
    answer = save(ada, plan, fields | {f"steps-{a.pk}-title": "mine"})
    assert "does not exist" in " ".join(refusals(answer))
    assert fields_of(answer)[f"steps-{a.pk}-title"] == "mine"
    answer = save(ada, plan, fields | {f"steps-{b.pk}-title": "B"})
    assert sorted(levels(answer)) == ["success", "warning"]
    assert titles(plan) == ["B", "c"]


def test_two_people_who_move_different_steps_both_get_their_way(ada: Client):
    plan = make_plan()
    a, b, c = three(plan)
    d = make_task(plan, title="d")
    fields = page(ada, plan)
    tasks.move_task(actor=PERSON, task_id=b.pk, before=a.pk)
    save(ada, plan, fields | {"steps-order": f"{a.pk},{b.pk},{d.pk},{c.pk}"})
    assert titles(plan) == ["b", "d", "a", "c"]


def test_rows_trimmed_by_the_page_keep_their_text(ada: Client):
    plan = make_plan()
    a, b, c = three(plan)
    fields = {
        name: value
        for name, value in page(ada, plan).items()
        if not name.startswith((f"steps-{b.pk}-", f"steps-{c.pk}-")) or name.endswith("-version")
    }
    tasks.patch_task(actor=PERSON, task_id=a.pk, title="theirs")
    refused = save(ada, plan, fields | {f"steps-{a.pk}-title": "mine"})
    assert fields_of(refused)[f"steps-{b.pk}-instructions"] == "Do it."
    assert titles(plan) == ["theirs", "b", "c"]


def test_a_hundred_and_fifty_steps_come_in_pages_and_move_within_them(ada: Client):
    plan = make_plan()
    Task.objects.bulk_create(
        Task(plan=plan, position=10 * n, title=f"t{n}", instructions="x") for n in range(1, 151)
    )
    url = f"{URL}{plan.pk}/change/?steps=2"
    fields = fields_of(ada.get(url))
    shown = fields["steps-shown"].split(",")
    assert len(shown) == 50
    order = ["new-0", shown[-1], *shown[:-1]]
    new = {"title": "new", "instructions": "x", "check": "manual", "max_attempts": "1"}
    added = {f"steps-new-0-{name}": value for name, value in new.items()}
    answer = ada.post(url, fields | added | {"steps-order": ",".join(order)})
    assert answer.status_code == 302
    assert titles(plan)[99:103] == ["t100", "new", "t150", "t101"]
