"""Which plan decides shows on every plan of the queue, whichever of them changed."""

import pytest
from playwright.sync_api import Page, expect

from coordination.models import Event
from handoff_site.board.fragments import fragments_of
from plans.events import Verb
from tests.serving import Site


def expect_to_decide(page: Page, plan: int) -> None:
    expect(page.locator("#column-panel .plan[data-deciding]")).to_have_count(1)
    expect(page.locator(f"#plan-{plan}[data-deciding]")).to_have_count(1)


@pytest.mark.parametrize("by_this_page", [True, False])
def test_the_first_step_of_an_earlier_plan_takes_the_turn_and_its_last_gives_it_back(
    site: Site, person, by_this_page: bool
) -> None:
    create = "plans.services.plans.create_plan"
    earlier = site.scribe(create, actor="human", project="panel", title="Empty at first")
    later, _steps = site.scribe.plan("panel", "Has a step", "One")
    page = person()
    page.on("dialog", lambda dialog: dialog.accept())
    if by_this_page:  # and without the news: what it did itself is enough
        page.route_web_socket("**/ws/board*", lambda socket: socket.close())
        page.reload()
        expect(page.locator("#live")).to_have_attribute("data-state", "broken")
    expect_to_decide(page, later)
    if by_this_page:
        page.locator(f"#plan-{earlier} summary").first.click()
        page.locator(f"#add-step-{earlier}").click()
        page.locator("#dialog [name=title]").fill("First")
        page.locator("#dialog [name=instructions]").fill("x")
        page.locator("#dialog .primary").click()
    else:
        add = "plans.services.tasks.add_task"
        site.scribe(add, actor="human", plan_id=earlier, title="First", instructions="x")
    expect_to_decide(page, earlier)
    added = page.locator(f"#plan-{earlier} .step")
    expect(added.locator(".title")).to_contain_text("First")  # its turn has come: it opens
    if by_this_page:
        added.locator("summary").first.click()
        added.locator(".danger").click()
    else:
        number = int(added.get_attribute("data-task") or 0)
        site.scribe("plans.services.tasks.delete_task", actor="human", task_id=number)
    expect_to_decide(page, later)
    for plan in (earlier, later):
        site.scribe("plans.services.plans.delete_plan", actor="human", plan_id=plan)


def test_a_step_that_only_moves_or_changes_redraws_its_own_plan() -> None:
    for verb in set(Verb) - {Verb.TASK_ADDED, Verb.TASK_DELETED}:
        if verb.startswith("task"):
            event = Event(verb=verb, subject="task:7", data={"plan": 3, "project": "app"})
            assert "column-app" not in fragments_of(event)
            assert "plan-3" in fragments_of(event)
