"""A double click acts once, however long the answer takes."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.handoff_site.board.test_steps import opened
from tests.serving import Site

ASK = "coordination.services.messages.ask"
Case = Callable[[Site, Page], tuple[Locator, Locator, int]]
"""Makes ready; returns the button, what shows that it acted, and how many of it there are then."""


def held_posts(page: Page) -> list[Route]:
    """Hold back what the page sends from now on; return the list that it will stand in."""
    held: list[Route] = []
    page.route(
        "**/board/**",
        lambda route: held.append(route) if route.request.method == "POST" else route.continue_(),
    )
    return held


def a_new_plan(_site: Site, page: Page) -> tuple[Locator, Locator, int]:
    page.locator("#new-plan-panel").click()
    page.locator("#dialog [name=title]").fill("Made once")
    return page.locator("#dialog .primary"), page.locator("h3", has_text="Made once"), 1


def an_answer(site: Site, page: Page) -> tuple[Locator, Locator, int]:
    asked = site.scribe(ASK, actor="app", to="human", subject="Answered once", body="?")
    card = page.locator(f"#card-question-{asked}")
    card.locator("textarea").fill("Yes")
    return card.get_by_role("button", name="Answer"), card, 0


def a_reply(site: Site, page: Page) -> tuple[Locator, Locator, int]:
    asked = site.scribe(ASK, actor="app", to="panel", subject="Replied once", body="?")
    page.locator(f"#question-{asked}").click()
    page.locator(f"#reply-{asked}").fill("Yes")
    panel = page.locator("#panel")
    return panel.get_by_role("button", name="Answer"), panel.locator(".answer"), 1


def a_copy(site: Site, page: Page) -> tuple[Locator, Locator, int]:
    plan, _steps = site.scribe.plan("panel", "To be copied", "One")
    opened(page, plan)
    page.locator(f"#others-{plan} > summary").click()
    return page.locator(f"#duplicate-{plan}"), page.locator("h3", has_text="To be copied (copy)"), 1


def a_remark(site: Site, page: Page) -> tuple[Locator, Locator, int]:
    site.scribe("plans.services.demo._sessions")
    _plan, (step,) = site.scribe.plan("site", "Sent back once", "One")
    site.scribe.promote("site")
    submit = "plans.services.transitions.submit_for_human"
    site.scribe(submit, actor="site", task_id=step, proof="done")
    card = page.locator(f"#card-task-{step}")
    card.locator("summary", has_text="Send back").click()
    card.locator("textarea").fill("Not yet")
    return card.get_by_role("button", name="Send back"), card, 0


@pytest.mark.parametrize("case", [a_new_plan, an_answer, a_reply, a_copy, a_remark])
def test_a_double_click_sends_once(site: Site, person, case: Case) -> None:
    page = person()
    button, acted, count = case(site, page)
    held = held_posts(page)
    button.dblclick()
    (first,) = held
    expect(button).to_be_disabled()
    held.clear()
    first.continue_()
    expect(acted).to_have_count(count)
    assert held == []


def test_a_button_that_is_drawn_again_while_it_waits_stays_disabled(site: Site, person) -> None:
    page = person()
    button, copies, _count = a_copy(site, page)
    before = copies.count()
    held = held_posts(page)
    button.click()
    expect(button).to_be_disabled()
    (first,) = held
    answer = first.fetch()
    expect(copies).to_have_count(before + 1)
    expect(button).to_be_disabled()
    first.fulfill(response=answer)
    expect(button).to_be_enabled()
