"""The board works for everyone: viewers, keyboards, screen readers, phones, hostile text."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.conftest import wait_until
from tests.serving import Site

ASK = "coordination.services.messages.ask"
HOSTILE = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"


@pytest.fixture(scope="module")
def filled(site: Site) -> tuple[int, list[int], int]:
    """A board with something of everything; every text is hostile."""
    plan, steps = site.scribe.plan(
        "app", f"Plan {HOSTILE}", f"Step {HOSTILE}", "Second", instructions=f"Do {HOSTILE}"
    )
    site.scribe.promote("app")
    site.scribe(
        "plans.services.transitions.submit_for_human",
        actor="app",
        task_id=steps[0],
        proof=f"{HOSTILE} [x](javascript:window.hacked=3)",
    )
    asked = site.scribe(ASK, actor="app", to="human", subject=f"Q {HOSTILE}", body=HOSTILE)
    site.scribe(
        "coordination.services.messages.answer", actor="panel", message_id=asked, body=HOSTILE
    )
    site.scribe(ASK, actor="app", to="human", subject=f"Open {HOSTILE}", body=HOSTILE)
    return plan, steps, asked


def unfolded(page: Page, filled: tuple[int, list[int], int]) -> None:
    """Open a step and the thread, so that everything is on the page."""
    _plan, steps, _asked = filled
    page.locator(f"#task-{steps[0]} summary").first.click()
    expect(page.locator(f"#more-{steps[0]} .prose").first).to_be_visible()


def test_nothing_that_anyone_typed_runs(person, filled) -> None:
    page = person()
    unfolded(page, filled)
    page.locator("#history").click()
    page.locator(f"#past-{filled[2]}").click()
    expect(page.locator("#panel .answer")).to_contain_text("<script>")
    expect(page.locator(f"#plan-{filled[0]} h3")).to_contain_text("<script>")
    assert page.evaluate("window.hacked") is None
    assert page.locator("a[href^=javascript]").count() == 0


def test_a_viewer_sees_everything_and_no_button_that_acts(person, filled) -> None:
    page = person(username="viewer", permissions=["view_plan", "view_task", "view_message"])
    unfolded(page, filled)
    for name in ("Validate", "Skip", "Edit", "Answer", "Ask", "+ New plan", "+ Add a step"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)


def test_a_viewer_who_acts_all_the_same_is_refused(person, filled, site: Site) -> None:
    page = person(username="viewer", permissions=["view_plan"])
    status = page.evaluate(
        """async (path) => (await fetch(path, {method: "POST", headers: {"X-CSRFToken":
           JSON.parse(document.body.getAttribute("data-hx-headers:inherited"))["X-CSRFToken"]}})
        ).status""",
        f"/board/steps/{filled[1][0]}/validate-manual",
    )
    assert status == 403
    task = site.scribe("plans.selectors.tasks.task_detail", task_id=filled[1][0])
    assert "awaiting_human" in str(task)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 360])
def test_axe_finds_nothing_serious(person, filled, scheme: str, width: int) -> None:
    page = person(color_scheme=scheme, viewport={"width": width, "height": 800})
    unfolded(page, filled)
    found = Axe().run(page).response["violations"]
    page.locator("#ask").click()
    expect(page.locator("#dialog")).to_be_visible()
    found += Axe().run(page).response["violations"]
    serious = [
        (one["id"], [node["target"] for node in one["nodes"]][:3])
        for one in found
        if one["impact"] in {"serious", "critical"}
    ]
    assert serious == []


def test_a_phone_shows_the_page_without_sideways_scrolling(person, filled) -> None:
    page = person(viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    first = page.evaluate("document.querySelector('#for-you').getBoundingClientRect().top")
    columns = page.evaluate("document.querySelector('#columns').getBoundingClientRect().top")
    assert first < columns
    page.locator(".switcher button", has_text="app").click()
    expect(page.locator("#column-app h2")).to_be_in_viewport()


APART = """() => {
  const boxes = [...document.querySelectorAll("#for-you, #columns, #questions, #activity")]
    .map((part) => part.getBoundingClientRect());
  return boxes.every((one, at) => boxes.slice(at + 1).every((other) =>
    one.bottom <= other.top || other.bottom <= one.top ||
    one.right <= other.left || other.right <= one.left));
}"""


@pytest.mark.parametrize(
    ("width", "height"),
    [(1400, 800), (1100, 700), (1024, 768), (1024, 600), (900, 1000), (780, 437), (390, 800)],
)
def test_no_part_lies_on_another(person, filled, width: int, height: int) -> None:
    page = person(viewport={"width": width, "height": height})
    assert page.evaluate(APART)


def test_an_empty_list_of_checks_is_an_empty_box(person, filled) -> None:
    page = person()
    page.locator("#columns .plan details[open] [id^=add-step-]").first.click()
    expect(page.locator("#dialog [name=rules]")).to_have_value("")


def test_escape_closes_the_menu(person, filled) -> None:
    page = person()
    summary = page.locator(".menu summary")
    summary.click()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.locator(".menu[open]")).to_have_count(0)
    expect(summary).to_be_focused()


def test_search_finds_plans_steps_and_questions_by_keyboard(person, filled) -> None:
    page = person()
    page.keyboard.press("/")
    page.keyboard.type("Second")
    expect(page.locator("#results a").first).to_contain_text("Second")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(f"#task-{filled[1][1]} details")).to_have_attribute("open", "")


def test_a_reference_in_a_text_leads_to_what_it_names(person, site: Site) -> None:
    _first, _ = site.scribe.plan("panel", "Ahead in the queue", "x")
    _plan, (step,) = site.scribe.plan("panel", "Folded away", "Named elsewhere")
    asked = site.scribe(ASK, actor="app", to="panel", subject="Referred to", body="x")
    site.scribe(
        ASK, actor="app", to="human", subject="Refers", body=f"See #{asked} and step #{step}."
    )
    page = person()
    card = page.locator("#for-you .card", has_text="Refers")
    card.get_by_role("link", name=f"#{asked}", exact=True).click()
    expect(page.locator("#panel")).to_contain_text("Referred to")
    page.keyboard.press("Escape")
    card.get_by_role("link", name=f"step #{step}").click()
    expect(page.locator(f"#task-{step} details")).to_have_attribute("open", "")


def test_history_filters_narrow_the_list(person, filled, site: Site) -> None:
    site.scribe(ASK, actor="panel", to="app", subject="100% ÉTÉ", body="x")
    page = person()
    page.locator("#history").click()
    page.locator("#panel [name=subject_contains]").fill("été")
    expect(page.locator("#found .question-row")).to_have_count(1)
    page.locator("#panel [name=from_session]").select_option("app")
    expect(page.locator("#found")).to_contain_text("No question matches")


def test_a_person_asks_one_session_or_everyone(person, site: Site) -> None:
    page = person()
    page.locator("#ask").click()
    page.locator("#dialog [name=to]").select_option("panel")
    page.locator("#dialog [name=subject]").fill("From people")
    page.locator("#dialog [name=body]").fill("Hello")
    page.locator("#dialog .primary").click()
    expect(page.locator("#questions")).to_contain_text("From people")
    inbox = site.scribe("coordination.selectors.messages.inbox", session="panel")
    assert "From people" in str(inbox)


def test_a_browser_that_was_asked_tells_of_what_waits_while_it_is_hidden(
    person, site: Site
) -> None:
    page = person(permissions=None, username="notified")
    page.context.grant_permissions(["notifications"], origin=site.url)
    page.evaluate(
        """() => { window.told = [];
        window.Notification = class { constructor(title, more) { told.push(more.body); }
          static permission = "granted"; static requestPermission = async () => "granted"; };
        Object.defineProperty(document, "hidden", { get: () => true }); }"""
    )
    asked = {"actor": "app", "to": "human", "body": "x"}
    site.scribe(ASK, subject="Before the button", **asked)
    expect(page.locator("#for-you")).to_contain_text("Before the button")
    assert page.evaluate("told") == []
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Notify me").click()
    expect(page.get_by_role("button", name="Notify me")).to_have_attribute("aria-pressed", "true")
    site.scribe(ASK, subject="After the button", **asked)
    wait_until(lambda: page.evaluate("told.length") == 1)
    assert page.evaluate("told")[0].startswith("Waiting for you: ")


def test_the_theme_is_chosen_and_remembered(person, site: Site) -> None:
    page = person(color_scheme="light")
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Theme: dark").click()
    page.reload()
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(19, 19, 24)"
