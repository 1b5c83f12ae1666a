"""The plan editor as people use it, in Chromium: mouse and keyboard, two tabs, an agent at work."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.conftest import wait_until
from tests.serving import Site

pytestmark = pytest.mark.browser
numbers = count(1)


@pytest.fixture
def admin(site: Site, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open an admin page as a superuser; a page error or a refused script fails the test."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []
    key = site.scribe("sign_in", username="admin")

    def open_page(path: str, **options) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        context.add_cookies([{"name": "handoff_session", "value": key, "url": site.url}])
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda m: "Content Security" in m.text and errors.append(m.text))
        page.goto(site.url + path)
        return page

    expect.set_options(timeout=20_000)  # a busy machine is no failure
    yield open_page
    expect.set_options(timeout=5000)
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def project(site: Site) -> str:
    """A session of the test's own, whose queue nobody else fills."""
    key = f"desk-{next(numbers)}"
    site.scribe("tests.plans.admin.pages.add_session", key=key)
    return key


@pytest.fixture
def plan(site: Site, project: str) -> tuple[int, list[int]]:
    """A plan of three steps: its id, and theirs."""
    return site.scribe.plan(project, "Written here", "First", "Second", "Third")


def path(plan_id: int) -> str:
    return f"/admin/plans/plan/{plan_id}/change/"


def row(page: Page, task_id: int) -> Locator:
    return page.locator(f"[data-step='{task_id}']")


def opened(page: Page, task_id: int) -> Locator:
    found = row(page, task_id)
    found.locator("summary").click()
    return found


def titles(page: Page) -> list[str]:
    return page.locator(".step-row .step-title").all_inner_texts()


def save(page: Page) -> None:
    page.locator("[name=_continue]").click()


def test_steps_are_dragged_into_another_order(admin, plan) -> None:
    page = admin(path(plan[0]))
    first, third = (row(page, plan[1][n]) for n in (0, 2))
    first.locator(".step-handle").hover()
    page.mouse.down()
    box = third.bounding_box()
    x, bottom = box["x"] + 20, box["y"] + box["height"] - 2
    page.mouse.move(x, bottom, steps=8)

    def made_way() -> bool:
        """Stir, as a hand does: rows make way one after another."""
        page.mouse.move(x, bottom - 1)
        page.mouse.move(x, bottom)
        return titles(page) == ["Second", "Third", "First"]

    wait_until(made_way, what="the order dragged to")
    page.mouse.up()
    assert titles(page) == ["Second", "Third", "First"]
    save(page)
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    assert titles(page) == ["Second", "Third", "First"]


def test_steps_are_moved_by_keyboard_and_focus_stays(admin, plan) -> None:
    page = admin(path(plan[0]))
    up = row(page, plan[1][2]).locator("[data-move=up]")
    up.focus()
    page.keyboard.press("Enter")
    expect(up).to_be_focused()
    page.keyboard.press("Alt+ArrowUp")
    assert titles(page) == ["Third", "First", "Second"]
    save(page)
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    assert titles(page) == ["Third", "First", "Second"]


def test_a_step_is_added_with_a_rule_whose_fields_follow_the_choice(admin, plan) -> None:
    page = admin(path(plan[0]))
    page.locator("#add-step").click()
    new = page.locator("[data-step=new-0]")
    expect(new.locator("[name$=-title]")).to_be_focused()
    page.keyboard.type("Checked")
    new.locator("[name$=instructions]").fill("Do **it**")
    new.get_by_role("button", name="Preview").click()
    expect(new.locator(".step-preview strong")).to_have_text("it")
    for check, shown in (
        ("manual", set()),
        ("shell", {"cmd", "timeout"}),
        ("file_contains", {"path", "text"}),
        ("http_get_status", {"url", "status"}),
        ("several", {"rules"}),
        ("file_exists", {"path"}),
    ):
        new.locator("[name$=check]").select_option(check)
        for name in ("cmd", "timeout", "path", "text", "url", "status", "rules"):
            visible = new.locator(f".step-field-{name}").is_visible()
            assert visible == (name in shown), (check, name)
    new.locator("[name$=-path]").fill("/etc/passwd")
    save(page)
    new = page.locator("[data-step=new-0]")
    expect(new.locator(".step-field-path .step-wrong")).to_contain_text("must be relative")
    new.locator("[name$=-path]").fill("out/report.txt")
    new.locator("[data-move=up]").click()
    save(page)
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    assert titles(page) == ["First", "Second", "Checked", "Third"]


def test_a_steps_own_page_shows_the_fields_of_its_check(admin, plan) -> None:
    page = admin(f"/admin/plans/task/{plan[1][0]}/change/")
    expect(page.locator("#id_cmd")).to_be_hidden()
    page.locator("#id_check").select_option("shell")
    expect(page.locator("#id_path")).to_be_hidden()
    page.locator("#id_cmd").fill("true")
    save(page)
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    expect(page.locator("#id_cmd")).to_have_value("true")
    expect(page.locator("#id_timeout")).to_have_value("120")


def test_a_stale_tab_is_refused_keeps_what_was_typed_and_shows_what_is_stored(admin, plan) -> None:
    mine, theirs = admin(path(plan[0])), admin(path(plan[0]))
    for page, text in ((mine, "My title"), (theirs, "Their title")):
        opened(page, plan[1][1]).locator("[name$=-title]").fill(text)
    save(theirs)
    expect(theirs.get_by_text("was changed successfully")).to_be_visible()
    save(mine)
    found = row(mine, plan[1][1])
    expect(found.locator("> details > .step-wrong")).to_contain_text("was changed meanwhile")
    expect(found.locator("[data-stored=title]")).to_have_text("Their title")
    expect(found.locator("[name$=-title]")).to_have_value("My title")
    expect(mine.get_by_text("was changed successfully")).to_have_count(0)
    save(mine)
    expect(mine.get_by_text("was changed successfully")).to_be_visible()
    assert titles(mine)[1] == "My title"


def test_a_tab_opened_before_an_agent_began_cannot_move_its_step(
    admin, plan, project, site
) -> None:
    page = admin(path(plan[0]))
    site.scribe.promote(project)
    row(page, plan[1][0]).locator("[data-move=down]").click()
    save(page)
    expect(row(page, plan[1][0]).locator(".step-wrong").first).to_contain_text("cannot be")
    expect(row(page, plan[1][0]).locator("[name$=-title]")).to_have_count(0)
    expect(row(page, plan[1][0]).locator("[data-move]")).to_have_count(0)


def test_a_selection_is_acted_on_and_each_refusal_is_named(admin, plan, project) -> None:
    page = admin(f"/admin/plans/task/?project={project}")
    page.locator("button[formaction*='/skip/']").first.evaluate("() => window.confirm = () => true")
    page.get_by_role("button", name="Skip #").first.click()
    expect(page.get_by_text("Steps skipped: 1.")).to_be_visible()
    page.locator("#action-toggle, [name=action_toggle_all]").first.check()
    page.locator("select[name=action]").select_option("skip")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("Steps skipped: 2.")).to_be_visible()
    expect(page.get_by_text("needs « pending »")).to_have_count(1)


def test_a_step_is_sent_back_with_a_remark_from_the_plans_page(admin, plan, project, site) -> None:
    site.scribe.promote(project)
    site.scribe("plans.services.transitions.submit_for_human",
                actor=project, task_id=plan[1][0], proof="See **this**")  # fmt: skip
    page = admin(path(plan[0]))
    found = opened(page, plan[1][0])
    expect(found.locator(".step-prose strong")).to_have_text("this")
    found.get_by_text("Send back").click()
    page.locator("#id_remark").fill("Not yet")
    page.locator("#ask_form button").click()
    expect(page.get_by_text("Steps sent back: 1.")).to_be_visible()
    expect(opened(page, plan[1][0]).get_by_text("Not yet")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_have_no_serious_accessibility_finding_of_ours(admin, plan, scheme: str) -> None:
    page = admin(path(plan[0]), color_scheme=scheme)
    opened(page, plan[1][0])
    page.locator("#add-step").click()
    for part in ("#steps", ".step-bar", ".step-activity"):
        assert serious(page, part) == []
    page.goto(page.url.replace(f"plan/{plan[0]}/change/", "task/"))
    for part in (".step-state", ".step-buttons"):
        assert serious(page, part) == []


def test_on_a_phone_the_page_does_not_scroll_sideways(admin, plan) -> None:
    page = admin(path(plan[0]), viewport={"width": 360, "height": 700})
    opened(page, plan[1][0])
    width = page.locator("#steps").evaluate("box => box.scrollWidth - box.clientWidth")
    assert width <= 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("width", [1280, 390])
def test_every_button_of_the_lists_is_in_sight(admin, project, site, width: int) -> None:
    title = "Said in as many words as people take"
    _plan, (step,) = site.scribe.plan(project, title, title)
    site.scribe.promote(project)
    site.scribe("plans.services.transitions.submit_for_human", actor=project, task_id=step)
    page = admin("/admin/", viewport={"width": width, "height": 900})
    french = {"name": "handoff_language", "value": "fr", "url": site.url}
    page.context.add_cookies([french])  # its words are the longer ones
    for name in ("plan", "task"):
        page.goto(f"{site.url}/admin/plans/{name}/?project={project}")
        cells = page.locator("#result_list .field-buttons")
        expect(cells.first).to_contain_text("Archiver" if name == "plan" else "Valider")
        for cell in cells.all():
            assert cell.evaluate(
                """cell => [...cell.querySelectorAll(".step-button")].every((button) => {
                  const [inner, outer] = [button, cell].map((part) => part.getBoundingClientRect());
                  return inner.right <= Math.min(outer.right, innerWidth - 16)  // its margin
                    && inner.left >= outer.left && inner.top >= outer.top
                    && inner.bottom <= outer.bottom; })"""
            )


def serious(page: Page, part: str) -> list[str]:
    found = Axe().run(page, context=part).response["violations"]
    return [
        f"{one['id']}: {node['html'][:120]}"
        for one in found
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]
