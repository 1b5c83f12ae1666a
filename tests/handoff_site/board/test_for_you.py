"""What waits for a person comes first, and is dealt with in place."""

import pytest
from playwright.sync_api import expect

from tests.serving import Site

ASK = "coordination.services.messages.ask"


@pytest.fixture
def awaiting(site: Site) -> tuple[int, int]:
    """A plan whose only step its agent has submitted; its id and the step's."""
    site.scribe("plans.services.demo._sessions")
    plan, (step,) = site.scribe.plan("site", "Waiting plan", "To be checked")
    site.scribe.promote("site")
    site.scribe(
        "plans.services.transitions.submit_for_human",
        actor="site",
        task_id=step,
        proof="I **did** it",
    )
    return plan, step


def test_a_submitted_step_is_validated_from_its_card(person, awaiting) -> None:
    page = person()
    _plan, step = awaiting
    card = page.locator(f"#card-task-{step}")
    expect(card.locator("strong")).to_have_text("did")
    card.get_by_role("button", name="Validate").click()
    expect(card).to_have_count(0)
    expect(page.locator(f"#task-{step}")).to_have_class("step done")


def test_a_submitted_step_is_sent_back_with_a_remark(site: Site, person, awaiting) -> None:
    page = person()
    _plan, step = awaiting
    card = page.locator(f"#card-task-{step}")
    card.locator("summary", has_text="Send back").click()
    card.get_by_role("button", name="Send back").click()
    expect(card.locator(".refusal")).to_contain_text("remark")
    card.locator("textarea").fill("The title is missing")
    card.get_by_role("button", name="Send back").click()
    expect(card).to_have_count(0)
    expect(page.locator(f"#task-{step}")).to_have_class("step current")
    site.scribe("plans.services.transitions.skip_task", actor="human", task_id=step)


def test_a_blocked_step_is_reset_or_skipped_from_its_card(site: Site, person) -> None:
    _plan, (step,) = site.scribe.plan("panel", "Blocked plan", "Hard")
    site.scribe.promote("panel")
    site.scribe(
        "plans.services.transitions.block_step", actor="panel", task_id=step, reason="No access"
    )
    page = person()
    card = page.locator(f"#card-task-{step}")
    expect(card).to_contain_text("No access")
    expect(card.get_by_role("button", name="Validate")).to_have_count(0)
    card.get_by_role("button", name="Reset").click()
    expect(page.locator(f"#task-{step}")).to_have_class("step pending")
    site.scribe.promote("panel")
    site.scribe(
        "plans.services.transitions.block_step", actor="panel", task_id=step, reason="Still none"
    )
    card.get_by_role("button", name="Skip").click()
    expect(card).to_have_count(0)


def test_a_question_to_people_is_answered_by_keyboard_alone(site: Site, person) -> None:
    asked = site.scribe(ASK, actor="app", to="human", subject="May I?", body="Please say.")
    page = person()
    page.locator(f"#answer-to-{asked}").focus()
    page.keyboard.type("Yes, go on")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(f"#card-question-{asked}")).to_have_count(0)
    thread = site.scribe("coordination.selectors.messages.thread", message_id=asked)
    assert "Yes, go on" in str(thread)


def test_an_empty_answer_is_refused_next_to_the_button(site: Site, person) -> None:
    asked = site.scribe(ASK, actor="app", to="human", subject="Empty?", body="x")
    page = person()
    card = page.locator(f"#card-question-{asked}")
    card.get_by_role("button", name="Answer").click()
    expect(card.locator(".refusal")).to_have_text("Required fields: body")
    card.get_by_role("button", name="Close").click()
    expect(card).to_have_count(0)


def test_two_people_press_the_same_button_and_one_is_told(site: Site, person, awaiting) -> None:
    _plan, step = awaiting
    first, second = person(), person(username="second")
    # The second window misses the news, as one does on a slow line.
    second.context.set_offline(True)
    first.locator(f"#card-task-{step}").get_by_role("button", name="Validate").click()
    expect(first.locator(f"#card-task-{step}")).to_have_count(0)
    second.evaluate("socket.onclose = null; socket.close()")
    second.context.set_offline(False)
    card = second.locator(f"#card-task-{step}")
    card.get_by_role("button", name="Validate").click()
    expect(card.locator(".refusal")).to_contain_text("changed meanwhile")


def test_an_open_thread_that_grows_takes_no_focus(site: Site, person) -> None:
    mine = site.scribe(ASK, actor="app", to="human", subject="Typed into", body="x")
    read = site.scribe(ASK, actor="panel", to="app", subject="Only read", body="x")
    page = person()
    page.locator(f"#question-{read}").click()
    expect(page.locator("#panel [data-do=close-panel]")).to_be_focused()
    page.locator(f"#answer-to-{mine}").focus()
    site.scribe("coordination.services.messages.answer", actor="app", message_id=read, body="New")
    expect(page.locator("#panel .answer")).to_contain_text("New")
    page.keyboard.type("Still here")
    expect(page.locator(f"#answer-to-{mine}")).to_have_value("Still here")


def test_half_typed_text_outlives_what_others_do(site: Site, person) -> None:
    asked = site.scribe(ASK, actor="app", to="human", subject="Slow typist", body="x")
    page = person()
    box = page.locator(f"#answer-to-{asked}")
    box.fill("I was about to s")
    box.focus()
    site.scribe(ASK, actor="panel", to="human", subject="Another one", body="x")
    expect(page.locator("#for-you")).to_contain_text("Another one")
    expect(box).to_have_value("I was about to s")
    expect(box).to_be_focused()
    site.scribe("coordination.services.messages.close", actor="human", message_id=asked)
    expect(page.locator("#for-you .kept")).to_contain_text("What you typed is still here")
    expect(box).to_have_value("I was about to s")
    page.get_by_role("button", name="Put away").click()
    expect(box).to_have_count(0)
