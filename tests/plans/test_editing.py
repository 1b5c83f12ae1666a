"""People write plans: fields checked, places kept, nobody's newer change lost."""

import pytest

from coordination.errors import Conflict, Forbidden, Invalid, MissingFields, NotFound, Stale
from plans.models import Plan, Task
from plans.services import plans, tasks
from plans.states import ACTIVE
from tests.plans.factories import PANEL, PERSON, make_plan, make_task, snapshot

pytestmark = pytest.mark.django_db


def order(plan: Plan) -> list[int]:
    return list(Task.objects.filter(plan=plan).values_list("pk", flat=True))


def add(plan: Plan, **values) -> int:
    defaults = {"title": "A step", "instructions": "Do it."}
    return tasks.add_task(actor=PERSON, plan_id=plan.pk, **defaults | values).pk


def test_steps_are_appended_ten_apart():
    plan = make_plan()
    add(plan)
    add(plan)
    assert list(Task.objects.values_list("position", flat=True)) == [10, 20]


def test_steps_go_between_two_others_even_when_no_number_is_left():
    plan = make_plan()
    first, last = add(plan), add(plan)
    between = [add(plan, after=first) for _ in range(12)]
    assert order(plan) == [first, *reversed(between), last]
    assert len(set(Task.objects.values_list("position", flat=True))) == 14


def test_inserting_after_another_plans_step_is_refused():
    with pytest.raises(Invalid, match="after"):
        add(make_plan(), after=make_task(make_plan()).pk)


def test_a_move_swaps_the_two_positions_and_does_nothing_at_the_edge():
    plan = make_plan()
    a, b = add(plan), add(plan)
    tasks.move_task(actor=PERSON, task_id=b, direction="up")
    assert order(plan) == [b, a]
    assert sorted(Task.objects.values_list("position", flat=True)) == [10, 20]
    tasks.move_task(actor=PERSON, task_id=b, direction="up")
    tasks.move_task(actor=PERSON, task_id=a, direction="down")
    assert order(plan) == [b, a]


def test_a_move_between_equal_positions_changes_the_order():
    plan = make_plan()
    a, b, c = (make_task(plan, position=7).pk for _ in range(3))
    tasks.move_task(actor=PERSON, task_id=c, direction="up")
    assert order(plan) == [a, c, b]


def test_a_step_moves_before_any_other():
    plan = make_plan()
    a, b, c = add(plan), add(plan), add(plan)
    tasks.move_task(actor=PERSON, task_id=c, before=a)
    assert order(plan) == [c, a, b]
    tasks.move_task(actor=PERSON, task_id=c, before=b)
    assert order(plan) == [a, c, b]


def test_a_move_spoils_nobodys_edit():
    plan = make_plan()
    a, b = make_task(plan), make_task(plan)
    tasks.move_task(actor=PERSON, task_id=b.pk, direction="up")
    for task in (a, b):
        tasks.patch_task(actor=PERSON, task_id=task.pk, title="New", version=task.version)


@pytest.mark.parametrize("status", ACTIVE)
def test_an_active_step_is_neither_edited_moved_nor_deleted(status: str):
    task = make_task(make_plan(), status)
    before = snapshot(task)
    for refused in (
        lambda: tasks.patch_task(actor=PERSON, task_id=task.pk, title="New"),
        lambda: tasks.move_task(actor=PERSON, task_id=task.pk, direction="up"),
        lambda: tasks.delete_task(actor=PERSON, task_id=task.pk),
    ):
        with pytest.raises(Conflict, match=f"#{task.pk}"):
            refused()
    assert snapshot(task) == before


def test_a_stale_edit_is_refused_with_the_current_state():
    task = make_task(make_plan())
    tasks.patch_task(actor=PERSON, task_id=task.pk, title="Mine", version=1)
    with pytest.raises(Stale) as refused:
        tasks.patch_task(actor=PERSON, task_id=task.pk, title="Yours", version=1)
    assert refused.value.data["current"]["title"] == "Mine"
    assert snapshot(task).title == "Mine"


def test_what_a_patch_leaves_out_stays():
    rule = {"cmd": "true", "timeout": 5}
    task = make_task(make_plan(), validation_mode="shell", validation_rule=rule)
    tasks.patch_task(actor=PERSON, task_id=task.pk, title="New")
    assert snapshot(task).validation_rule == rule


def test_manual_validation_drops_the_rule_and_another_mode_needs_one():
    task = make_task(make_plan(), validation_mode="shell", validation_rule={"cmd": "true"})
    with pytest.raises(Invalid, match="validation_rule"):
        tasks.patch_task(actor=PERSON, task_id=task.pk, validation_mode="artifact")
    tasks.patch_task(actor=PERSON, task_id=task.pk, validation_mode="manual")
    assert snapshot(task).validation_rule is None


def test_saving_the_same_is_no_change():
    task = make_task(make_plan())
    tasks.patch_task(actor=PERSON, task_id=task.pk, title=task.title)
    assert snapshot(task).version == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [("title", "x" * 300), ("title", "a\x00b"), ("instructions", "x" * 100_001),
     ("max_attempts", 0), ("max_attempts", 101), ("max_attempts", True)],
)  # fmt: skip
def test_what_cannot_be_kept_is_refused_naming_the_field(field: str, value: object):
    task = make_task(make_plan())
    with pytest.raises(Invalid) as refused:
        tasks.patch_task(actor=PERSON, task_id=task.pk, **{field: value})
    assert refused.value.field == field
    with pytest.raises(Invalid):
        add(task.plan, **{field: value})
    assert Task.objects.count() == 1


@pytest.mark.parametrize("field", ["title", "instructions"])
def test_blank_text_is_missing(field: str):
    task = make_task(make_plan())
    with pytest.raises(MissingFields, match=field):
        tasks.patch_task(actor=PERSON, task_id=task.pk, **{field: "  "})
    with pytest.raises(MissingFields, match=field):
        add(task.plan, **{field: " "})


def test_plans_belong_to_agents_projects():
    for project in ("human", "nobody"):
        with pytest.raises(Invalid, match="project"):
            plans.create_plan(actor=PERSON, project=project, title="A plan")
    with pytest.raises(Forbidden):
        plans.create_plan(actor=PANEL, project="panel", title="A plan")
    with pytest.raises(Invalid, match="200"):
        plans.create_plan(actor=PERSON, project="panel", title="x" * 300)


def test_a_plan_is_renamed_over_nobodys_newer_name():
    plan = make_plan()
    plans.patch_plan(actor=PERSON, plan_id=plan.pk, title="Mine", version=1)
    with pytest.raises(Stale) as refused:
        plans.patch_plan(actor=PERSON, plan_id=plan.pk, title="Yours", version=1)
    assert refused.value.data["current"]["title"] == "Mine"


def test_a_done_plan_is_not_resumed():
    plan = make_plan(status="done")
    make_task(plan, "done")
    with pytest.raises(Conflict):
        plans.patch_plan(actor=PERSON, plan_id=plan.pk, status="active")
    with pytest.raises(Invalid):
        plans.patch_plan(actor=PERSON, plan_id=plan.pk, status="done")


def test_deleting_a_plan_deletes_its_steps_and_unknown_ones_are_not_found():
    plan = make_plan()
    make_task(plan)
    plans.delete_plan(actor=PERSON, plan_id=plan.pk)
    assert not Task.objects.exists()
    with pytest.raises(NotFound):
        plans.delete_plan(actor=PERSON, plan_id=plan.pk)
    with pytest.raises(NotFound):
        add(plan)
