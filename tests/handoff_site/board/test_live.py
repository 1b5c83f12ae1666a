"""What any process writes shows on every open board, without a reload."""

import httpx
from playwright.sync_api import expect

from tests.serving import Site

ASK = "coordination.services.messages.ask"


def test_a_question_asked_by_another_process_appears(site: Site, person) -> None:
    page = person()
    site.scribe(ASK, actor="panel", to="app", subject="Which date format?", body="ISO?")
    expect(page.locator("#questions")).to_contain_text("Which date format?")
    expect(page.locator("#activity")).to_contain_text("Which date format?")


def test_an_answer_appears_in_the_open_thread(site: Site, person) -> None:
    asked = site.scribe(ASK, actor="panel", to="app", subject="Open thread", body="?")
    page = person()
    page.locator(f"#question-{asked}").click()
    expect(page.locator("#panel")).to_contain_text("Open thread")
    site.scribe(
        "coordination.services.messages.answer", actor="app", message_id=asked, body="From app"
    )
    expect(page.locator("#panel")).to_contain_text("From app")


def test_a_new_session_becomes_a_column(site: Site, person) -> None:
    page = person()
    site.scribe("plans.services.demo._sessions")
    expect(page.locator("#column-site")).to_be_visible()


def test_what_changed_during_a_cut_shows_after_it(site: Site, person) -> None:
    page = person()
    site.kill()
    expect(page.locator("#live")).to_have_attribute("data-state", "broken")
    site.scribe(ASK, actor="panel", to="app", subject="Asked while down", body="?")
    site.start()
    expect(page.locator("#live")).to_have_attribute("data-state", "live", timeout=15_000)
    expect(page.locator("#questions")).to_contain_text("Asked while down")


def test_the_count_is_in_the_title(site: Site, person) -> None:
    page = person()
    before = int(page.locator("#for-you").get_attribute("data-count") or 0)
    site.scribe(ASK, actor="app", to="human", subject="For the title", body="?")
    expect(page).to_have_title(f"({before + 1}) Handoff")


def test_an_agent_call_wakes_its_presence(site: Site, person) -> None:
    page = person()
    site.scribe("coordination.services.sessions.stamp", session="panel")
    expect(page.locator("#presence-panel")).to_have_attribute("data-bucket", "active")


def test_signing_out_leads_back_to_the_sign_in_page(site: Site, person) -> None:
    page = person(username="leaver")
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{site.url}/sign-in/")


def test_signing_out_in_one_tab_ends_the_others_at_once(site: Site, person) -> None:
    page = person(username="two-tabs")
    other = page.context.new_page()
    other.goto(site.url)
    other.wait_for_selector("#live[data-state=live]")
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(other).to_have_url(f"{site.url}/sign-in/?next=/", timeout=8000)  # no tick comes so soon


def test_the_address_of_parts_wants_a_signed_in_person(site: Site) -> None:
    assert httpx.get(f"{site.url}/board/fragments?n=for-you").status_code == 401


def test_what_a_person_does_shows_while_the_socket_is_away(site: Site, person) -> None:
    plan, _steps = site.scribe.plan("panel", "Paused without a socket", "One")
    page = person()
    page.route_web_socket("**/ws/board*", lambda socket: socket.close())
    page.reload()
    expect(page.locator("#live")).to_have_attribute("data-state", "broken")
    card = page.locator(f"#plan-{plan}")
    if card.locator("> details").get_attribute("open") is None:
        card.locator("summary").first.click()
    card.locator(f"#pause-{plan}").click()
    expect(card.locator(f"#resume-{plan}")).to_be_visible()


def test_what_is_drawn_as_it_was_is_left_alone_and_what_changed_is_not(site: Site, person) -> None:
    kept = site.scribe(ASK, actor="panel", to="human", subject="Stays as it is", body="?")
    _plan, (step,) = site.scribe.plan("panel", "Fails twice", "Try", validation_mode="manual")
    page = person()
    site.scribe(ASK, actor="panel", to="human", subject="First change", body="?")
    expect(page.locator("#for-you")).to_contain_text("First change")
    mark = f"document.querySelector('#card-question-{kept} h3').mark"
    page.evaluate(f"{mark} = 'same node'")
    block = "plans.services.transitions.block_step"
    for reason in ("no network", "no disk"):
        site.scribe.promote("panel")
        site.scribe(block, actor="panel", task_id=step, reason=reason)
        expect(page.locator(f"#card-task-{step}")).to_contain_text(reason)
        site.scribe("plans.services.transitions.reset_task", actor="human", task_id=step)
        expect(page.locator(f"#card-task-{step}")).to_have_count(0)
    assert page.evaluate(mark) == "same node"
