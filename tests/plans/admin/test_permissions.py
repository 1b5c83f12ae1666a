"""Somebody who may only look sees everything and changes nothing."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import User

from plans.models import Plan, Task
from plans.states import HUMAN_EVENTS
from tests.plans.admin.pages import fields_of, levels, refusals
from tests.plans.factories import make_plan, make_task, snapshot

pytestmark = pytest.mark.django_db
TASKS, PLANS = "/admin/plans/task/", "/admin/plans/plan/"
VIEW = ("view_plan", "view_task")


def test_a_viewer_sees_plans_and_steps_without_anything_to_press(staff):
    viewer = staff(*VIEW)
    plan = make_plan()
    tasks = [make_task(plan, "awaiting_human"), make_task(plan)]
    for url in (PLANS, TASKS, f"{PLANS}{plan.pk}/change/", f"{TASKS}{tasks[1].pk}/change/"):
        text = viewer.get(url).content.decode()
        assert "A step" in text or "A plan" in text
        for sign in (
            "/do/",
            "/duplicate/",
            'name="_save"',
            'id="add-step"',
            "data-move=",
            "-delete",
        ):
            assert sign not in text, (url, sign)
    for url in (PLANS, TASKS):
        assert 'name="action"' not in viewer.get(url).content.decode()


def test_a_viewer_changes_nothing_by_sending_forms(staff, ada):
    viewer = staff(*VIEW)
    plan = make_plan()
    task = make_task(plan, "awaiting_human")
    pending = make_task(plan)
    before = snapshot(task), snapshot(pending)
    sent = [
        *(viewer.post(f"{TASKS}{task.pk}/do/{event}/", {"remark": "x"}) for event in HUMAN_EVENTS),
        viewer.post(f"{PLANS}{plan.pk}/do/pause/"),
        viewer.post(f"{PLANS}{plan.pk}/duplicate/"),
        viewer.post(f"{PLANS}{plan.pk}/delete/", {"post": "yes"}),
        viewer.post(f"{TASKS}{pending.pk}/delete/", {"post": "yes"}),
        viewer.post(
            f"{PLANS}{plan.pk}/change/",
            fields_of(ada.get(f"{PLANS}{plan.pk}/change/")) | {"title": "x"},
        ),
        viewer.post(f"{PLANS}add/", {"project": "panel", "title": "x"}),
        viewer.post(f"{TASKS}{pending.pk}/change/", {"title": "x"}),
    ]
    assert {answer.status_code for answer in sent} == {403}
    for action in ("skip", "delete_selected", "validate_manual"):
        data = {"action": action, "_selected_action": [task.pk, pending.pk], "post": "yes"}
        viewer.post(TASKS, data)
    assert (snapshot(task), snapshot(pending)) == before
    assert Plan.objects.get().title == "A plan"


def test_each_persons_list_has_their_own_buttons_whoever_looks_meanwhile(rf):
    viewer, ada = User.objects.create_user("viewer"), User.objects.create_superuser("ada")
    task = make_task(make_plan(), "awaiting_human")
    for row, url in ((task, TASKS), (task.plan, PLANS)):
        drawn = []
        for user in (viewer, ada):
            request = rf.get(url)
            request.user = user
            drawn.append(admin.site.get_model_admin(type(row)).get_list_display(request)[-1])
        assert ["<button" in buttons(row) for buttons in drawn] == [False, True]


def test_steps_on_a_plans_page_ask_for_their_own_permissions(staff, ada):
    planner = staff(*VIEW, "change_plan")
    plan = make_plan()
    task = make_task(plan, title="kept")
    url = f"{PLANS}{plan.pk}/change/"
    assert f"steps-{task.pk}-title" not in fields_of(planner.get(url))
    full = fields_of(ada.get(url))
    added = {"title": "n", "instructions": "x", "check": "manual", "max_attempts": "1"}
    for typed in (
        {f"steps-{task.pk}-title": "mine"},
        {f"steps-{task.pk}-delete": "on"},
        {"steps-order": f"{task.pk},new-0"} | {f"steps-new-0-{k}": v for k, v in added.items()},
    ):
        assert "ask an administrator" in " ".join(refusals(planner.post(url, full | typed)))
    assert list(Task.objects.values_list("title", flat=True)) == ["kept"]
    assert levels(
        planner.post(url, fields_of(planner.get(url)) | {"title": "Mine"}, follow=True)
    ) == ["success"]
    assert Plan.objects.get().title == "Mine"


def test_whoever_may_change_steps_acts_without_deleting(staff):
    worker = staff(*VIEW, "change_task")
    plan = make_plan()
    task = make_task(plan, "awaiting_human")
    answer = worker.post(f"{TASKS}{task.pk}/do/validate-manual/", follow=True)
    assert levels(answer) == ["success"]
    assert worker.post(f"{TASKS}{task.pk}/delete/", {"post": "yes"}).status_code == 403


def test_somebody_without_any_right_on_plans_sees_none(staff):
    nobody = staff()
    task = make_task(make_plan())
    for url in (PLANS, TASKS, f"{TASKS}{task.pk}/change/", f"{PLANS}{task.plan_id}/change/"):
        assert nobody.get(url).status_code == 403
    assert nobody.post(f"{TASKS}preview/", {"text": "x"}).status_code == 403
