"""A request that the site turns away says so where it was made, and loses nothing typed."""

from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import expect

from coordination.models import Message
from tests.plans.factories import make_plan, make_task
from tests.serving import Site

ASK = "coordination.services.messages.ask"
HTMX = {"HX-Request": "true"}


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["questions/1", "search?q=plan", "history", "ask"])
def test_a_part_asked_for_after_signing_out_sends_the_page_to_the_sign_in(path: str) -> None:
    answer = Client().get(f"/board/{path}", headers=HTMX)
    assert (answer.status_code, answer.headers["HX-Refresh"]) == (401, "true")
    assert answer.content == b""


@pytest.mark.django_db
def test_a_button_without_its_csrf_token_is_refused_in_one_sentence() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("admin"))
    answer = client.post("/board/ask", {"subject": "s"}, headers=HTMX)
    page = client.post("/board/ask", {"subject": "s"})
    assert (answer.status_code, page.status_code) == (403, 403)
    assert "<" not in answer.content.decode()
    assert answer.content.decode() in unescape(page.content.decode())
    assert "<html" in page.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("before", ["0", "999999", "9" * 20, "9" * 5000, "-1", "x", "\x00"])
def test_a_step_is_not_moved_before_what_is_no_step(before: str) -> None:
    client, plan = Client(), make_plan()
    client.force_login(User.objects.create_superuser("admin"))
    first, _second = make_task(plan), make_task(plan)
    answer = client.post(f"/board/steps/{first.pk}/move", {"before": before}, headers=HTMX)
    assert answer.status_code in (404, 422)
    first.refresh_from_db()
    assert first.version == 1


def test_a_form_whose_token_is_too_old_says_so_and_keeps_what_was_typed(person) -> None:
    page = person()
    page.locator("#ask").click()
    page.locator("#dialog [name=subject]").fill("Typed at length")
    page.context.clear_cookies(name="handoff_csrf")
    page.locator("#dialog .primary").click()
    expect(page.locator("#dialog .refusal")).to_contain_text("reload the page")
    expect(page.locator("#dialog [name=subject]")).to_have_value("Typed at length")


def test_a_page_whose_session_has_ended_leads_to_the_sign_in(site: Site, person) -> None:
    asked = site.scribe(ASK, actor="app", to="panel", subject="Read too late", body="?")
    page = person(username="forgotten")
    page.evaluate("socket.onclose = null; socket.close()")
    page.context.clear_cookies(name="handoff_session")
    with page.expect_response(f"**/board/questions/{asked}") as answer:
        page.locator(f"#question-{asked}").click()
    assert answer.value.status == 401
    expect(page).to_have_url(f"{site.url}/sign-in/?next=/")


@pytest.mark.parametrize(
    ("permission", "answers", "closes"), [("add_message", 1, 0), ("change_message", 0, 1)]
)
def test_answering_and_closing_are_offered_to_those_who_may(
    site: Site, person, permission: str, answers: int, closes: int
) -> None:
    asked = site.scribe(ASK, actor="app", to="human", subject="Yours?", body="?")
    page = person(username=permission, permissions=["view_message", permission])
    card, panel = page.locator(f"#card-question-{asked}"), page.locator("#panel")
    card.locator("h3 a").click()
    expect(panel).to_contain_text("Yours?")
    for place in (card, panel):
        expect(place.get_by_role("button", name="Answer")).to_have_count(answers)
        expect(place.locator("textarea")).to_have_count(answers)
    expect(card.get_by_role("button", name="Close")).to_have_count(closes)
    expect(panel.get_by_role("button", name="Close the question")).to_have_count(closes)
    if closes:
        panel.get_by_role("button", name="Close the question").click()
        expect(card).to_have_count(0)


def test_a_refused_close_is_said_next_to_its_button(site: Site, person) -> None:
    asked = site.scribe(ASK, actor="app", to="human", subject="Gone?", body="?")
    page = person()
    page.locator(f"#question-{asked}").click()
    close = page.locator("#panel").get_by_role("button", name="Close the question")
    expect(close).to_be_visible()
    page.evaluate("socket.onclose = null; socket.close()")
    from_admin = "tests.handoff_site.board.test_refused.delete"
    site.scribe(from_admin, message_id=asked)
    close.click()
    expect(page.locator("#panel .refusal")).to_contain_text("does not exist")


def delete(message_id: int) -> None:
    """Delete a question; run by a scribe."""
    Message.objects.filter(pk=message_id).delete()
