"""What people do to steps and plans from the lists and pages: each through its service."""

import pytest
from django.test import Client

from coordination.models import Event
from plans.models import Plan, Task
from plans.states import HUMAN_EVENTS
from tests.plans.admin.pages import fields_of, levels, said
from tests.plans.factories import make_plan, make_task, snapshot

pytestmark = pytest.mark.django_db
TASKS, PLANS = "/admin/plans/task/", "/admin/plans/plan/"


def do(client: Client, task: Task, event: str, **data: object):
    return client.post(f"{TASKS}{task.pk}/do/{event}/", data, follow=True)


def select(client: Client, url: str, action: str, rows: list, **data: object):
    data = {"action": action, "_selected_action": [row.pk for row in rows], **data}
    return client.post(url, data, follow=True)


def test_the_buttons_offered_are_those_of_the_table(ada: Client):
    waiting = make_task(make_plan(), "awaiting_human")
    failed = make_task(make_plan(), "failed")
    done = make_task(make_plan(), "done")
    text = ada.get(TASKS).content.decode()
    offered = {
        (task.pk, event)
        for task in (waiting, failed, done)
        for event in HUMAN_EVENTS
        if f"{TASKS}{task.pk}/do/{event}/" in text
    }
    assert offered == {
        (waiting.pk, "validate-manual"), (waiting.pk, "reject"), (waiting.pk, "skip"),
        (failed.pk, "reset"), (failed.pk, "skip"),
    }  # fmt: skip


def test_a_button_seen_before_somebody_else_acted_is_refused(ada: Client):
    task = make_task(make_plan(), "awaiting_human")
    Task.objects.update(version=7)
    assert levels(do(ada, task, "validate-manual", version=1)) == ["error"]
    assert snapshot(task).status == "awaiting_human"


@pytest.mark.parametrize("version", ["9" * 20, "9" * 5000, "-1", "x", "\x00"])
def test_a_version_that_is_none_stops_no_button(ada: Client, version: str):
    task = make_task(make_plan(), "awaiting_human")
    assert levels(do(ada, task, "validate-manual", version=version)) == ["success"]


def test_validating_twice_is_one_success_and_one_refusal(ada: Client):
    task = make_task(make_plan(), "awaiting_human")
    answers = [levels(do(ada, task, "validate-manual", version=1)) for _twice in range(2)]
    assert answers == [["success"], ["error"]]
    assert Event.objects.filter(verb="task_validated").count() == 1


def test_sending_back_asks_for_a_remark_first(ada: Client):
    task = make_task(make_plan(), "awaiting_human")
    asked = ada.get(f"{TASKS}{task.pk}/do/reject/")
    assert b"Remark for the agent" in asked.content
    assert levels(do(ada, task, "reject", remark="   ")) == ["error"]
    assert snapshot(task).status == "awaiting_human"
    assert levels(do(ada, task, "reject", remark="Not **yet**", version=1)) == ["success"]
    assert (snapshot(task).status, snapshot(task).last_error) == ("current", "Not **yet**")


def test_nothing_changes_by_following_a_link(ada: Client):
    task = make_task(make_plan(), "awaiting_human")
    for event in HUMAN_EVENTS:
        assert ada.get(f"{TASKS}{task.pk}/do/{event}/").status_code == 200
    assert ada.get(f"{PLANS}{task.plan_id}/do/pause/").status_code == 405
    assert snapshot(task).status == "awaiting_human"


def test_a_form_of_another_site_changes_nothing(ada: Client):
    task = make_task(make_plan(), "awaiting_human")
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = ada.cookies
    assert strict.post(f"{TASKS}{task.pk}/do/skip/").status_code == 403
    assert snapshot(task).status == "awaiting_human"


def test_one_goes_back_to_where_one_came_from_on_this_site_only(ada: Client):
    task = make_task(make_plan())
    url = f"{TASKS}{task.pk}/do/skip/?next="
    assert ada.post(url + "/admin/plans/plan/").url == "/admin/plans/plan/"
    assert ada.post(url + "https://evil.example/").url == TASKS


def test_an_unknown_step_or_action_is_told(ada: Client):
    answer = ada.post(f"{TASKS}999/do/skip/", follow=True)
    assert said(answer) == [("error", "Step #999 does not exist.")]
    task = make_task(make_plan())
    for action in ("promote", "pass", "nonsense"):
        assert ada.post(f"{TASKS}{task.pk}/do/{action}/").status_code == 404


def test_a_bulk_action_counts_what_it_did_and_names_what_it_did_not(ada: Client):
    waiting = [make_task(make_plan(), "awaiting_human") for _ in range(2)]
    refused = [make_task(make_plan(), "pending"), make_task(make_plan(), "done")]
    answer = select(ada, TASKS, "validate_manual", waiting + refused)
    found = said(answer)
    assert [level for level, _text in found] == ["success", "error", "error"]
    assert "2" in found[0][1]
    assert all(f"#{task.pk}" in text for task, (_l, text) in zip(refused, found[1:], strict=True))
    assert [snapshot(task).status for task in waiting] == ["done", "done"]
    assert [snapshot(task).status for task in refused] == ["pending", "done"]


def test_a_bulk_action_refused_everywhere_reports_no_success(ada: Client):
    tasks = [make_task(make_plan(), "done") for _ in range(30)]
    answer = select(ada, TASKS, "reset", tasks)
    assert set(levels(answer)) == {"error"}
    assert len(said(answer)) == 21
    assert "10 more" in said(answer)[-1][1]


def test_sending_several_back_asks_for_one_remark(ada: Client):
    tasks = [make_task(make_plan(), "awaiting_human") for _ in range(2)]
    asked = select(ada, TASKS, "reject", tasks)
    assert b"Remark for the agent" in asked.content
    assert {snapshot(task).status for task in tasks} == {"awaiting_human"}
    blank = select(ada, TASKS, "reject", tasks, remark=" ")
    assert b"Write what the agent must do differently" in blank.content
    answer = select(ada, TASKS, "reject", tasks, remark="Redo")
    assert levels(answer) == ["success"]
    assert {snapshot(task).last_error for task in tasks} == {"Redo"}


def test_every_row_of_a_long_list_can_be_acted_on(ada: Client):
    plan = make_plan()
    Task.objects.bulk_create(
        Task(plan=plan, position=n, title="t", instructions="x") for n in range(60)
    )
    first = Task.objects.first()
    answer = select(ada, TASKS, "skip", [first], select_across="1")
    assert "60" in said(answer)[0][1]
    assert not Task.objects.exclude(status="skipped").exists()


def test_plans_are_paused_resumed_and_archived(ada: Client):
    free, busy = make_plan(), make_plan()
    make_task(free)
    make_task(busy, "current")
    assert levels(select(ada, PLANS, "pause_selected", [free, busy])) == ["success"]
    assert set(Plan.objects.values_list("status", flat=True)) == {"paused"}
    assert levels(select(ada, PLANS, "resume_selected", [free, busy])) == ["success"]
    assert levels(select(ada, PLANS, "archive_selected", [free, busy])) == ["success", "error"]
    assert [p.status for p in Plan.objects.order_by("pk")] == ["archived", "active"]
    version = Plan.objects.get(pk=busy.pk).version
    url = f"{PLANS}{busy.pk}/do/"
    assert levels(ada.post(f"{url}archive/", {"version": version}, follow=True)) == ["error"]
    assert levels(ada.post(f"{url}pause/", {"version": version}, follow=True)) == ["success"]
    assert levels(ada.post(f"{url}resume/", {"version": version}, follow=True)) == ["error"]


def test_a_plan_is_duplicated_with_its_steps_pending(ada: Client):
    plan = make_plan(title="Release")
    make_task(plan, "done", title="one")
    make_task(plan, "awaiting_human", title="two")
    for page in (PLANS, f"{PLANS}{plan.pk}/change/"):
        assert f"{PLANS}{plan.pk}/duplicate/" in ada.get(page).content.decode()
    answer = ada.post(f"{PLANS}{plan.pk}/duplicate/", follow=True)
    copy = Plan.objects.get(title="Release (copy)")
    assert answer.redirect_chain[-1][0] == f"{PLANS}{copy.pk}/change/"
    assert said(answer) == [("success", f"This is the copy of plan #{plan.pk}.")]
    assert [(t.title, t.status) for t in copy.tasks.order_by("position")] == [
        ("one", "pending"), ("two", "pending"),
    ]  # fmt: skip
    assert snapshot(plan.tasks.last()).status == "awaiting_human"


def test_a_plan_that_is_gone_is_not_duplicated(ada: Client):
    answer = ada.post(f"{PLANS}999/duplicate/", follow=True)
    assert said(answer) == [("error", "Plan #999 does not exist.")]
    assert ada.get(f"{PLANS}999/duplicate/").status_code == 405
    assert not Plan.objects.exists()


def test_deleting_a_selection_with_an_active_step_deletes_none_and_names_it(ada: Client):
    plan = make_plan()
    pending, current = make_task(plan), make_task(plan, "current")
    asked = select(ada, TASKS, "delete_selected", [pending, current])
    assert asked.status_code == 200
    answer = select(ada, TASKS, "delete_selected", [pending, current], post="yes")
    ((level, text),) = said(answer)
    assert level == "error"
    assert "Nothing was deleted" in text
    assert f"#{current.pk}" in text
    assert Task.objects.count() == 2
    answer = select(ada, TASKS, "delete_selected", [pending], post="yes")
    assert levels(answer) == ["success"]
    assert Event.objects.get().verb == "task_deleted"


def test_a_plan_with_an_active_step_is_not_deleted_by_any_way(ada: Client):
    plan, other = make_plan(), make_plan()
    current = make_task(plan, "awaiting_human")
    make_task(other)
    single = ada.post(f"{PLANS}{plan.pk}/delete/", {"post": "yes"}, follow=True)
    several = select(ada, PLANS, "delete_selected", [plan, other], post="yes")
    step = ada.post(f"{TASKS}{current.pk}/delete/", {"post": "yes"}, follow=True)
    assert [levels(a) for a in (single, several, step)] == [["error"]] * 3
    assert (Plan.objects.count(), Task.objects.count()) == (2, 2)
    assert levels(ada.post(f"{PLANS}{other.pk}/delete/", {"post": "yes"}, follow=True)) == [
        "success"
    ]
    assert (Plan.objects.count(), Task.objects.count()) == (1, 1)


def test_a_project_with_plans_is_not_deleted_under_them(ada: Client):
    plan = make_plan("panel")
    answer = ada.post("/admin/coordination/session/panel/delete/", {"post": "yes"}, follow=True)
    assert levels(answer) == ["error"]
    assert Plan.objects.get() == plan


def test_sending_back_twice_from_one_page_is_one_success(ada: Client):
    task = make_task(make_plan(), "awaiting_human")
    form = fields_of(ada.get(f"{TASKS}{task.pk}/do/reject/"), "ask_form") | {"remark": "Redo"}
    answers = [levels(do(ada, task, "reject", **form)) for _twice in range(2)]
    assert answers == [["success"], ["error"]]
