"""An action applies to what its person saw: a newer change is shown to them, not undone."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Page, expect

from plans.models import Plan, Task
from plans.services import plans as plan_services
from plans.services import tasks as task_services
from tests.handoff_site.board.test_steps import opened, step
from tests.plans.factories import PERSON, make_plan, make_task
from tests.serving import Site

DETAIL = "plans.selectors.tasks.task_detail"
SUBMIT = "plans.services.transitions.submit_for_human"


def cut_off(page: Page) -> None:
    """Let the page miss the news, as one does on a slow line."""
    page.evaluate("socket.onclose = null; socket.close()")


@pytest.fixture
def client(db: None) -> Client:
    signed_in = Client()
    signed_in.force_login(User.objects.create_superuser("admin"))
    return signed_in


ON_A_STEP = {
    "validate-manual": "awaiting_human",
    "reject": "awaiting_human",
    "reset": "failed",
    "skip": "failed",
    "delete": "failed",
}


@pytest.mark.parametrize("action", ON_A_STEP)
def test_a_button_of_a_step_refuses_one_changed_since(client: Client, action: str) -> None:
    task = make_task(make_plan(), ON_A_STEP[action], version=2)
    path, said = f"/board/steps/{task.pk}/{action}", {"remark": "Again"}
    answer = client.post(path, said | {"version": "1"})
    assert answer.status_code == 412
    assert Task.objects.get(pk=task.pk).status == ON_A_STEP[action]
    assert client.post(path, said | {"version": "2"}).status_code == 204


@pytest.mark.parametrize("action", ["paused", "archived", "delete"])
def test_a_button_of_a_plan_refuses_one_changed_since(client: Client, action: str) -> None:
    plan = make_plan()
    plan_services.patch_plan(actor=PERSON, plan_id=plan.pk, title="Renamed")
    path = f"/board/plans/{plan.pk}/{action}"
    assert client.post(path, {"version": str(plan.version)}).status_code == 412
    assert Plan.objects.get(pk=plan.pk).status == "active"
    assert client.post(path, {"version": str(plan.version + 1)}).status_code == 204


def test_a_validation_of_a_proof_that_was_replaced_is_refused(site: Site, person) -> None:
    _plan, (first,) = site.scribe.plan("panel", "Proved twice", "One")
    site.scribe.promote("panel")
    site.scribe(SUBMIT, actor="panel", task_id=first, proof="The first proof")
    page = person()
    card = page.locator(f"#card-task-{first}")
    expect(card).to_contain_text("The first proof")
    cut_off(page)
    reject = "plans.services.transitions.reject_task"
    site.scribe(reject, actor="human", task_id=first, remark="No")
    site.scribe(SUBMIT, actor="panel", task_id=first, proof="The second proof")
    card.get_by_role("button", name="Validate").click()
    expect(card.locator(".refusal")).to_contain_text("changed meanwhile")
    card.locator("summary", has_text="Send back").click()
    card.locator("textarea").fill("Unread")
    card.get_by_role("button", name="Send back").click()
    expect(card.locator(".refusal")).to_contain_text("changed meanwhile")
    expect(card.locator("textarea")).to_have_value("Unread")
    assert "awaiting_human" in site.scribe(DETAIL, task_id=first)
    page.reload()
    card.get_by_role("button", name="Validate").click()
    expect(card).to_have_count(0)


def test_a_stale_edit_shows_what_is_stored_and_can_replace_it(site: Site, person) -> None:
    plan, (only,) = site.scribe.plan("app", "Edited by two", "Only")
    page = person()
    opened(page, plan)
    step(page, only).get_by_role("button", name="Edit").click()
    page.locator("#dialog [name=title]").fill("Mine")
    theirs = {"title": "Theirs", "instructions": "Do it their way"}
    patch = "plans.services.tasks.patch_task"
    site.scribe(patch, actor="human", task_id=only, **theirs)
    page.locator("#dialog .primary").click()
    expect(page.locator("#dialog .stored")).to_contain_text("Theirs")
    expect(page.locator("#dialog .stored")).to_contain_text("Do it their way")
    expect(page.locator("#dialog [name=title]")).to_have_value("Mine")
    page.locator("#dialog .primary").click()
    expect(page.locator("#dialog")).to_be_hidden()
    expect(page.locator(f"#task-{only} .title")).to_contain_text("Mine")


def test_a_stale_title_of_a_plan_shows_the_stored_one_and_can_replace_it(
    site: Site, person
) -> None:
    plan, _steps = site.scribe.plan("app", "Named by two", "Only")
    page = person()
    opened(page, plan)
    page.locator(f"#others-{plan} > summary").click()
    page.locator(f"#rename-{plan}").click()
    page.locator("#dialog [name=title]").fill("My name")
    rename = "plans.services.plans.patch_plan"
    site.scribe(rename, actor="human", plan_id=plan, title="Their name")
    page.locator("#dialog .primary").click()
    expect(page.locator("#dialog .stored")).to_contain_text("Their name")
    page.locator("#dialog .primary").click()
    expect(page.locator(f"#plan-{plan} h3")).to_have_text("My name")


def test_a_third_change_between_two_saves_is_shown_as_well(client: Client) -> None:
    task = make_task(make_plan())
    form = {"title": "Mine", "instructions": "x", "check": "manual", "max_attempts": "1"}
    for title in ("Second", "Third"):
        seen = Task.objects.get(pk=task.pk).version
        task_services.patch_task(actor=PERSON, task_id=task.pk, title=title)
        answer = client.post(f"/board/steps/{task.pk}", form | {"version": str(seen)})
        assert answer.status_code == 412
        assert title in answer.content.decode()
        newest = Task.objects.get(pk=task.pk).version
        assert f'name="version" value="{newest}"' in answer.content.decode()
