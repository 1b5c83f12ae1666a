"""REST for plans and steps: who may, what is understood, and the same rules as anywhere."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from plans.models import Plan, Task
from tests.plans.factories import make_plan, make_task, snapshot

pytestmark = pytest.mark.django_db
JSON = {"content_type": "application/json"}
STEP = {"title": "A step", "instructions": "Do it.", "validation_mode": "manual"}


def test_a_plan_is_written_and_read(admin_client: Client):
    created = admin_client.post("/api/plans", {"project": "panel", "title": "Plan é"}, **JSON)
    assert created.status_code == 201
    plan_id = created.json()["id"]
    step = admin_client.post(f"/api/plans/{plan_id}/tasks", STEP, **JSON)
    assert (step.status_code, step.json()["position"], step["ETag"]) == (201, 10, '"1"')
    second = admin_client.post(f"/api/plans/{plan_id}/tasks", STEP, **JSON).json()
    between = STEP | {"after": step.json()["id"]}
    assert admin_client.post(f"/api/plans/{plan_id}/tasks", between, **JSON).status_code == 201
    read = admin_client.get(f"/api/plans/{plan_id}").json()
    assert [task["position"] for task in read["tasks"]] == [10, 15, 20]
    assert (read["total"], read["settled"], read["status"]) == (3, 0, "active")
    moved = admin_client.post(f"/api/tasks/{second['id']}/move", {"direction": "up"}, **JSON)
    assert moved.json()["position"] == 15


def test_plans_are_listed_by_project_and_status(admin_client: Client):
    mine, _other = make_plan("panel"), make_plan("app")
    make_plan("panel", status="archived")
    found = admin_client.get("/api/plans?project=panel&status=active").json()
    assert [plan["id"] for plan in found] == [mine.pk]
    assert admin_client.get("/api/plans?project=nobody").status_code == 422
    assert admin_client.get("/api/plans?status=x").json()["field"] == "status"


def test_the_board_is_one_read(admin_client: Client):
    task = make_task(make_plan(), "awaiting_human")
    board = admin_client.get("/api/board").json()
    assert [column["backend"]["key"] for column in board["columns"]] == ["panel", "app"]
    assert board["columns"][0]["deciding"] == task.plan_id
    assert [step["id"] for step in board["waiting"]] == [task.pk]
    assert board["waiting"][0]["actions"] == ["validate-manual", "reject", "skip"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"instructions": None}, "instructions"),
        ({"title": None}, "title"),
        ({"validation_mode": None}, "validation_mode"),
        ({"max_attempts": None}, "max_attempts"),
        ({"max_attempts": "2"}, "max_attempts"),
        ({"max_attempts": 101}, "max_attempts"),
        ({"status": "done"}, "status"),
        ({"title": "  "}, "title"),
        ({"title": "x" * 300}, "title"),
        ({"title": 3}, "title"),
        ({"validation_mode": "x"}, "validation_mode"),
        ({"validation_rule": {"cmd": "#"}}, "validation_rule.cmd"),
        ({"validation_rule": None}, "validation_rule"),
    ],
)
def test_a_bad_patch_is_422_naming_the_field(admin_client: Client, body: dict, named: str):
    rule = {"cmd": "true", "timeout": 5}
    task = make_task(make_plan(), validation_mode="shell", validation_rule=rule)
    before = snapshot(task)
    answer = admin_client.patch(f"/api/tasks/{task.pk}", body, **JSON)
    assert answer.status_code == 422
    content = answer.json()
    assert named in (content.get("field"), *content.get("fields", []))
    assert named in content["message"]
    assert snapshot(task) == before


def test_null_says_as_little_as_leaving_a_field_out(admin_client: Client):
    task = make_task(make_plan(), "failed")
    action = {"action": "reset", "remark": None}
    assert admin_client.post(f"/api/tasks/{task.pk}/action", action, **JSON).status_code == 200
    nulls = {"validation_rule": None, "max_attempts": None, "after": None}
    step = admin_client.post(f"/api/plans/{task.plan_id}/tasks", STEP | nulls, **JSON)
    assert (step.status_code, step.json()["max_attempts"]) == (201, 1)


def test_a_remark_that_is_null_is_a_missing_one(admin_client: Client):
    task = make_task(make_plan(), "awaiting_human")
    action = {"action": "reject", "remark": None}
    refused = admin_client.post(f"/api/tasks/{task.pk}/action", action, **JSON)
    assert (refused.status_code, refused.json()["fields"]) == (422, ["remark"])


def test_a_patch_of_the_title_keeps_the_rule(admin_client: Client):
    rule = {"cmd": "true", "timeout": 5}
    task = make_task(make_plan(), validation_mode="shell", validation_rule=rule)
    answer = admin_client.patch(f"/api/tasks/{task.pk}", {"title": "New"}, **JSON)
    assert (answer.json()["title"], answer.json()["validation_rule"]) == ("New", rule)


@pytest.mark.parametrize("tag", ['"0"', '"7"', "nonsense"])
def test_a_stale_version_is_412_with_the_current_state(admin_client: Client, tag: str):
    task = make_task(make_plan())
    for answer in (
        admin_client.patch(
            f"/api/tasks/{task.pk}", {"title": "N"}, headers={"If-Match": tag}, **JSON
        ),
        admin_client.delete(f"/api/tasks/{task.pk}", headers={"If-Match": tag}),
        admin_client.post(
            f"/api/tasks/{task.pk}/action", {"action": "skip"}, headers={"If-Match": tag}, **JSON
        ),
    ):
        assert answer.status_code == 412
        assert answer.json()["current"]["title"] == "A step"
    assert snapshot(task).version == 1


@pytest.mark.parametrize("tag", ['"1"', 'W/"1"', "1", "*"])
def test_the_version_that_stands_is_accepted(admin_client: Client, tag: str):
    task = make_task(make_plan())
    answer = admin_client.patch(
        f"/api/tasks/{task.pk}", {"title": "New"}, headers={"If-Match": tag}, **JSON
    )
    assert (answer.status_code, answer["ETag"]) == (200, '"2"')


def test_an_active_step_is_409_for_every_change(admin_client: Client):
    task = make_task(make_plan(), "current")
    path = f"/api/tasks/{task.pk}"
    for answer in (
        admin_client.patch(path, {"title": "New"}, **JSON),
        admin_client.delete(path),
        admin_client.post(f"{path}/move", {"direction": "up"}, **JSON),
        admin_client.patch(f"/api/plans/{task.plan_id}", {"status": "archived"}, **JSON),
        admin_client.delete(f"/api/plans/{task.plan_id}"),
    ):
        assert answer.status_code == 409
        assert f"#{task.pk}" in answer.json()["message"]


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("action", {"action": "promote"}, "action"),
        ("action", {"action": "reject"}, "remark"),
        ("action", {}, "action"),
        ("move", {}, "direction"),
        ("move", {"direction": "left"}, "direction"),
        ("move", {"direction": "up", "before": 1}, "direction"),
        ("move", {"before": 999}, "before"),
    ],
)
def test_bad_actions_and_moves_name_the_field(
    admin_client: Client, path: str, body: dict, field: str
):
    task = make_task(make_plan())
    content = admin_client.post(f"/api/tasks/{task.pk}/{path}", body, **JSON)
    assert content.status_code == 422
    assert field in (content.json().get("field"), *content.json().get("fields", []))


def test_unknown_things_are_404(admin_client: Client):
    for path in ("/api/plans/999", "/api/tasks/999"):
        assert admin_client.get(path).status_code == 404
        assert admin_client.delete(path).status_code == 404
        assert admin_client.patch(path, {"title": "x"}, **JSON).status_code == 404


def test_nobody_is_401_and_a_viewer_looks_but_does_not_act(client: Client):
    task = make_task(make_plan(), "awaiting_human")
    path = f"/api/tasks/{task.pk}"
    assert client.get(path).status_code == 401
    assert client.post(f"{path}/action", {"action": "skip"}, **JSON).status_code == 401
    viewer = User.objects.create_user("vera")
    client.force_login(viewer, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(path).status_code == 200
    for answer in (
        client.post(f"{path}/action", {"action": "validate-manual"}, **JSON),
        client.post(f"{path}/move", {"direction": "up"}, **JSON),
        client.patch(path, {"title": "x"}, **JSON),
        client.delete(path),
        client.post("/api/plans", {"project": "panel", "title": "x"}, **JSON),
        client.post(f"/api/plans/{task.plan_id}/tasks", STEP, **JSON),
        client.patch(f"/api/plans/{task.plan_id}", {"title": "x"}, **JSON),
        client.delete(f"/api/plans/{task.plan_id}"),
    ):
        assert answer.status_code == 403
    assert (snapshot(task).status, Plan.objects.count()) == ("awaiting_human", 1)
    viewer.user_permissions.add(Permission.objects.get(codename="change_task"))
    done = client.post(f"{path}/action", {"action": "validate-manual"}, **JSON)
    assert done.json()["status"] == "done"


def test_deleting_answers_204(admin_client: Client):
    task = make_task(make_plan())
    assert admin_client.delete(f"/api/tasks/{task.pk}").status_code == 204
    assert admin_client.delete(f"/api/plans/{task.plan_id}").status_code == 204
    assert not Task.objects.exists()


def test_the_api_describes_itself_with_the_rules(admin_client: Client):
    text = admin_client.get("/api/openapi.json").content.decode()
    for word in ("file_contains", "validate-manual", "/api/tasks/{task_id}/move"):
        assert word in text
