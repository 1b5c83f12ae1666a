"""The board's search of plans and steps: any case, any accents, every character as itself."""

import pytest

from plans.selectors.queues import search
from plans.services.plans import create_plan, patch_plan
from plans.services.tasks import add_task, patch_task
from tests.plans.factories import PERSON, make_plan, make_task

pytestmark = pytest.mark.django_db


def titles(text: str) -> list[str]:
    plans, steps = search(text=text)
    return [plan.title for plan in plans] + [step.title for step in steps]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("été", ["L'ÉTÉ", "Un ete 100%"]),
        ("ETE", ["L'ÉTÉ", "Un ete 100%"]),
        ("ПРИВЕТ", ["привет_мир"]),
        ("%", ["Un ete 100%"]),
        ("_", ["привет_мир"]),
        ("nothing", []),
    ],
)
def test_titles_are_found_in_every_case_and_accent(text, found):
    plan = make_plan(title="L'ÉTÉ")
    make_task(plan, title="Un ete 100%")
    make_task(plan, title="привет_мир")
    assert titles(text) == found


def test_a_new_title_is_the_one_that_is_found():
    plan = create_plan(actor=PERSON, project="panel", title="Café")
    task = add_task(actor=PERSON, plan_id=plan.pk, title="Thé", instructions="Do it.")
    assert titles("cafe") == ["Café"]
    assert titles("the") == ["Thé"]
    patch_plan(actor=PERSON, plan_id=plan.pk, title="Crème")
    patch_task(actor=PERSON, task_id=task.pk, title="Gâteau")
    assert titles("creme") == ["Crème"]
    assert titles("GATEAU") == ["Gâteau"]
    assert titles("cafe") == titles("the") == []
