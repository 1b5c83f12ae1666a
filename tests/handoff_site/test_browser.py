"""Chromium on the ways in, the admin and the API's pages: they work, and nothing inline runs."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.handoff_site.conftest import Served

pytestmark = pytest.mark.browser

RECORD_VIOLATIONS = """
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) =>
        window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
"""

HOSTILE = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"

ADMIN_PAGES = [
    "",
    "coordination/session/",
    "coordination/session/add/",
    "coordination/session/panel/change/",
    "coordination/message/",
    "coordination/message/add/",
    "coordination/apitoken/",
    "coordination/apitoken/add/",
    "coordination/event/",
    "auth/user/",
    "auth/user/add/",
    "auth/user/1/change/",
    "auth/group/add/",
]


@pytest.fixture
def served(serve: Callable[..., Served], database_file: Path) -> Served:
    return serve().ready()


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    """A page in a fresh profile; a fault in any of its scripts fails the test."""
    context = browser.new_context(base_url=served.site, locale="fr-FR")
    context.add_init_script(RECORD_VIOLATIONS)
    context.set_default_timeout(10_000)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    yield page
    context.close()
    assert faults == []


def violations(page: Page) -> list[str]:
    return page.evaluate("window.violations")


def test_the_link_opens_the_board_and_its_token_is_nowhere(page: Page, served: Served):
    page.goto(served.link)
    assert page.url == f"{served.site}/"
    assert "sesame" not in page.evaluate("document.referrer + location.href")
    assert violations(page) == []


def test_signing_in_switching_language_and_signing_out_by_keyboard(page: Page, served: Served):
    page.goto("/sign-in/")
    page.get_by_role("button", name="English").press("Enter")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Please enter a correct username and password")).to_be_visible()
    password = served.output.split("Mot de passe : ")[1].split()[0]
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{served.site}/")
    page.goto("/admin/")
    page.locator("#logout-form").evaluate("form => form.requestSubmit()")
    page.wait_for_url("**/sign-in/")
    page.goto("/admin/")
    assert "/sign-in/" in page.url
    assert violations(page) == []


def test_no_admin_page_breaks_the_content_policy(page: Page, served: Served):
    page.goto(served.link)
    for path in ADMIN_PAGES:
        answer = page.goto(f"/admin/{path}", wait_until="networkidle")
        assert answer.status == 200, path
        assert "unsafe-inline" not in answer.headers["content-security-policy"]
        assert violations(page) == [], path


def test_the_admin_is_alive_under_the_policy(page: Page, served: Served):
    page.goto(served.link)
    page.goto("/admin/coordination/session/")
    page.locator("input.action-select").first.check()
    expect(page.locator("#changelist-actions")).to_be_visible()
    page.get_by_role("link", name="panel").click()
    page.locator("#id_description").fill("Le panneau")
    page.locator("[name=_save]").click()
    expect(page.get_by_text("Le panneau")).to_be_visible()
    assert violations(page) == []


def test_only_admin_pages_may_evaluate(page: Page, served: Served):
    policies = {
        path: page.goto(path).headers["content-security-policy"]
        for path in (served.link, "/", "/password/", "/api/docs", "/admin/", "/nowhere")
    }
    evaluating = [path for path, policy in policies.items() if "unsafe-eval" in policy]
    assert evaluating == ["/admin/"]
    assert not any("unsafe-inline" in policy for policy in policies.values())


def test_the_apis_documentation_works_under_the_policy(page: Page, served: Served):
    page.goto(served.link)
    page.goto("/api/docs")
    expect(page.get_by_text("/api/messages/{message_id}/answers")).to_be_visible()
    page.locator("#operations-sessions-coordination_api_list_backends").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    expect(page.get_by_text('"key": "panel"').first).to_be_visible()
    assert violations(page) == []


def test_script_in_a_subject_or_a_body_stays_text(page: Page, served: Served):
    page.goto(served.link)
    page.goto("/admin/coordination/message/add/")
    page.locator("#id_subject").fill(HOSTILE)
    page.locator("#id_body").fill(HOSTILE)
    page.locator("[name=_continue]").click()
    expect(page.locator("#id_answer")).to_be_visible()
    for path in (page.url, "/admin/coordination/message/", "/admin/", "/"):
        page.goto(path, wait_until="load")
        expect(page).not_to_have_title("owned")
        assert violations(page) == [], path
