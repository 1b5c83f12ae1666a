"""What reading costs does not grow with what is stored."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from plans.models import Plan, Task
from plans.selectors import plans as plan_selectors
from plans.selectors import tasks as task_selectors
from plans.services import steps
from tests.plans.factories import PANEL, make_plan, make_task
from tests.query_plans import know_the_tables, plans_of

pytestmark = pytest.mark.django_db


def queries_of(read: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        read()
    return [query["sql"] for query in captured]


def fill(plans: int, tasks: int) -> None:
    made = Plan.objects.bulk_create(
        Plan(project_id=("panel", "app")[n % 2], title=f"Plan {n}") for n in range(plans)
    )
    Task.objects.bulk_create(
        Task(plan=plan, position=10 * n, title="t", instructions="i",
             status="done" if n < tasks // 2 else "pending")
        for plan in made
        for n in range(tasks)
    )  # fmt: skip


def test_the_board_takes_the_same_queries_whatever_its_size():
    def read() -> object:
        return plan_selectors.board(projects=["panel", "app"])

    make_task(make_plan())
    small = len(queries_of(read))
    fill(30, 10)
    assert len(queries_of(read)) == small == 3


def test_the_list_of_plans_takes_two_queries():
    fill(20, 3)
    assert len(queries_of(plan_selectors.plans)) == 2


def test_the_next_step_is_found_by_indexes_made_for_it():
    fill(40, 30)
    steps.next_step(actor=PANEL)
    know_the_tables("plans_plan", "plans_task")
    found = plans_of(lambda: steps.next_step(actor=PANEL))  # the current step
    Task.objects.filter(active=True).update(status="failed")
    found += plans_of(lambda: steps.next_step(actor=PANEL))  # the first unsettled one
    used = "\n".join(found)
    for index in ("plan_queue", "task_one_active_per_plan", "task_unsettled"):
        assert index in used
    for costly in ("task_order", "task_plan_status", "TEMP B-TREE", "Sort", "SCAN", "Seq Scan"):
        assert costly not in used


def test_what_waits_is_read_by_status():
    make_task(make_plan(), "awaiting_human")
    assert len(queries_of(task_selectors.waiting)) == 1


def test_what_waits_longest_comes_first_and_archived_plans_wait_for_nobody():
    first = make_task(make_plan(), "failed")
    second = make_task(make_plan(), "blocked")
    make_task(make_plan(status="archived"), "failed")
    assert [task.id for task in task_selectors.waiting()] == [first.pk, second.pk]
    assert task_selectors.waiting_count() == 2
