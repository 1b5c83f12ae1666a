"""Every button and link of the board does what it says, by mouse and by keyboard."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.handoff_site.board.pressing import WAYS, Hand, Scene, Scenes, two_hands
from tests.serving import Site

pytestmark = pytest.mark.browser
ASK = "coordination.services.messages.ask"
scene = Scenes()
BOARD = "html[lang=en] body.board"
SKIP_LINK = "board: #main"


class Desk:
    """The board of one test, empty when it begins, and the process that writes to it."""

    def __init__(self, site: Site, hand: Hand) -> None:
        self.site, self.page, self.scribe = site, hand.page, site.scribe

    def open(self) -> None:
        """Sign in, and look at a board that holds nothing."""
        self.scribe("tests.handoff_site.board.pressing.clear")
        key = self.scribe("sign_in", username="admin")
        self.page.context.add_cookies(
            [{"name": "handoff_session", "value": key, "url": self.site.url}]
        )
        self.page.goto(self.site.url)
        self.page.wait_for_selector("#live[data-state=live]")

    def plan(self, *steps: str) -> tuple[int, list[int]]:
        """Make a plan that the board shows opened."""
        plan, ids = self.scribe.plan("panel", "A plan", *steps or ("First",))
        self.page.wait_for_selector(f"#plan-{plan} .step")
        return plan, ids

    def awaiting(self) -> int:
        """Make a step that waits for a person's eye."""
        _plan, (step,) = self.plan()
        self.scribe.promote("panel")
        submit = "plans.services.transitions.submit_for_human"
        self.scribe(submit, actor="panel", task_id=step, proof="Done")
        self.page.wait_for_selector(f"#card-task-{step}")
        return step

    def blocked(self) -> int:
        """Make a step that its agent gave up."""
        _plan, (step,) = self.plan()
        self.scribe.promote("panel")
        block = "plans.services.transitions.block_step"
        self.scribe(block, actor="panel", task_id=step, reason="No access")
        self.page.wait_for_selector(f"#card-task-{step}")
        return step

    def asked(self, to: str = "human") -> int:
        """Ask a question as `app`."""
        asked = self.scribe(ASK, actor="app", to=to, subject="Which way?", body="Please say.")
        self.page.wait_for_selector(f"#question-{asked}")
        return asked

    def fill(self, **fields: str) -> None:
        """Type into the dialog."""
        for name, text in fields.items():
            self.page.locator(f"#dialog [name={name}]").fill(text)

    def expect_step(self, step: int, status: str) -> None:
        """See a step in a state."""
        expect(self.page.locator(f"#task-{step}")).to_have_class(f"step {status}")


@pytest.fixture(scope="module")
def hands(site: Site, browser: Browser) -> Iterator[dict[str, Hand]]:
    """A page for each way to press: opened once, for all scenes."""
    with two_hands(browser, BOARD) as made:
        yield made


@scene
def ask(desk: Desk) -> Iterator[str]:
    yield "#ask"
    desk.fill(subject="From people", body="Hello")
    yield "#dialog .primary"
    expect(desk.page.locator("#questions")).to_contain_text("From people")


@scene
def cancel(desk: Desk) -> Iterator[str]:
    yield "#ask"
    yield "#dialog [data-do=close-dialog]"
    expect(desk.page.locator("#dialog")).to_be_hidden()


@scene
def go_to_the_administration(desk: Desk) -> Iterator[str]:
    yield ".menu summary"
    yield ".menu a[href='/admin/']"
    expect(desk.page).to_have_url(f"{desk.site.url}/admin/")


@scene
def change_the_password(desk: Desk) -> Iterator[str]:
    yield ".menu summary"
    yield ".menu a[href='/password/']"
    yield ".actions a"
    expect(desk.page).to_have_url(f"{desk.site.url}/")


@scene
def sign_out(desk: Desk) -> Iterator[str]:
    yield ".menu summary"
    yield ".menu form[action='/sign-out/'] button"
    expect(desk.page).to_have_url(f"{desk.site.url}/sign-in/")


@scene
def be_notified(desk: Desk) -> Iterator[str]:
    desk.page.evaluate("Notification.requestPermission = async () => 'granted'")
    yield ".menu summary"
    yield "[data-do=notices]"
    expect(desk.page.locator("[data-do=notices]")).to_have_attribute("aria-pressed", "true")


@scene
def choose_a_theme(desk: Desk) -> Iterator[str]:
    root = desk.page.locator("html")
    yield ".menu summary"
    for theme in ("dark", "light"):
        yield f"[data-do=theme][value={theme}]"
        expect(root).to_have_attribute("data-theme", theme)
    yield "[data-do=theme][value=auto]"
    expect(root).not_to_have_attribute("data-theme", "light")


@scene
def switch_the_language(desk: Desk) -> Iterator[str]:
    for language in ("fr", "en"):
        yield ".menu summary"
        yield f"[name=language][value={language}]"
        expect(desk.page.locator("html")).to_have_attribute("lang", language)


@scene
def search(desk: Desk) -> Iterator[str]:
    plan, (step,) = desk.plan()
    asked = desk.asked("panel")
    for text, kind, number in (("plan", "plan", plan), ("first", "task", step)):
        desk.page.locator("#search").fill(text)
        yield f"#results a[href='#{kind}-{number}']"
        expect(desk.page.locator("#results a")).to_have_count(0)
        expect(desk.page.locator(f"#{kind}-{number} summary").first).to_be_focused()
    desk.page.locator("#search").fill("which")
    yield f"#found-{asked}"
    expect(desk.page.locator("#panel")).to_contain_text("Please say.")


@scene
def show_a_column_on_a_phone(desk: Desk) -> Iterator[str]:
    desk.page.set_viewport_size({"width": 360, "height": 740})
    yield ".switcher button[value=column-app]"
    expect(desk.page.locator("#column-app h2")).to_be_in_viewport()
    yield ".switcher button[value=column-panel]"
    expect(desk.page.locator("#column-panel h2")).to_be_in_viewport()
    desk.page.set_viewport_size({"width": 1400, "height": 900})


@scene
def validate_on_the_card(desk: Desk) -> Iterator[str]:
    step = desk.awaiting()
    yield f"#card-task-{step} h3 a"
    expect(desk.page.locator(f"#task-{step} details").first).to_have_attribute("open", "")
    yield f"#card-validate-manual-{step}"
    desk.expect_step(step, "done")


@scene
def send_back_on_the_card(desk: Desk) -> Iterator[str]:
    step = desk.awaiting()
    yield f"#card-reject-{step} summary"
    desk.page.locator(f"#card-remark-{step}").fill("Not yet")
    yield f"#card-reject-{step} button"
    desk.expect_step(step, "current")


@scene
def reset_on_the_card(desk: Desk) -> Iterator[str]:
    step = desk.blocked()
    yield f"#card-reset-{step}"
    desk.expect_step(step, "pending")


@scene
def skip_on_the_card(desk: Desk) -> Iterator[str]:
    step = desk.blocked()
    yield f"#card-skip-{step}"
    desk.expect_step(step, "skipped")


@scene
def answer_on_the_card(desk: Desk) -> Iterator[str]:
    asked = desk.asked()
    yield f"#open-{asked}"
    expect(desk.page.locator("#panel")).to_contain_text("Please say.")
    desk.page.locator(f"#answer-to-{asked}").fill("That way")
    yield f"#card-question-{asked} .primary"
    expect(desk.page.locator("#panel .answer")).to_contain_text("That way")


@scene
def close_on_the_card(desk: Desk) -> Iterator[str]:
    asked = desk.asked()
    yield f"#card-question-{asked} [type=button]"
    expect(desk.page.locator(f"#card-question-{asked}")).to_have_count(0)


@scene
def write_a_plan(desk: Desk) -> Iterator[str]:
    for project in ("panel", "app"):
        yield f"#new-plan-{project}"
        desk.fill(title="Written here")
        yield "#dialog .primary"
        expect(desk.page.locator(f"#column-{project} .plan h3")).to_have_text("Written here")


@scene
def fold_a_plan(desk: Desk) -> Iterator[str]:
    plan, _steps = desk.plan()
    yield f"#plan-{plan} summary"
    expect(desk.page.locator(f"#plan-{plan} .step")).to_be_hidden()


@scene
def add_a_step(desk: Desk) -> Iterator[str]:
    plan, _steps = desk.plan()
    yield f"#add-step-{plan}"
    desk.fill(title="Second", instructions="Do it")
    yield "#dialog .primary"
    expect(desk.page.locator(f"#plan-{plan} .step").nth(1)).to_contain_text("Second")


@scene
def pause_and_resume(desk: Desk) -> Iterator[str]:
    plan, _steps = desk.plan()
    yield f"#pause-{plan}"
    yield f"#resume-{plan}"
    expect(desk.page.locator(f"#pause-{plan}")).to_be_visible()


@scene
def rename(desk: Desk) -> Iterator[str]:
    plan, _steps = desk.plan()
    yield f"#others-{plan} summary"
    yield f"#rename-{plan}"
    desk.fill(title="Renamed")
    yield "#dialog .primary"
    expect(desk.page.locator(f"#plan-{plan} h3")).to_have_text("Renamed")


@scene
def paste_a_list(desk: Desk) -> Iterator[str]:
    plan, _steps = desk.plan()
    yield f"#others-{plan} summary"
    yield f"#paste-{plan}"
    desk.fill(text="- Pasted\n- Pasted too")
    yield "#dialog .primary"
    expect(desk.page.locator(f"#plan-{plan} .step")).to_have_count(3)


@scene
def duplicate(desk: Desk) -> Iterator[str]:
    plan, _steps = desk.plan()
    yield f"#others-{plan} summary"
    yield f"#duplicate-{plan}"
    expect(desk.page.locator(".plan h3", has_text="(copy)")).to_be_visible()


@scene
def export(desk: Desk) -> Iterator[str]:
    plan, _steps = desk.plan()
    yield f"#others-{plan} summary"
    with desk.page.expect_download() as download:
        yield f"#others-{plan} a"
    assert "First" in download.value.path().read_text()


@scene
def archive(desk: Desk) -> Iterator[str]:
    plan, _steps = desk.plan()
    yield f"#others-{plan} summary"
    yield f"#archive-{plan}"
    expect(desk.page.locator(f"#plan-{plan}")).to_have_count(0)


@scene
def delete_a_plan(desk: Desk) -> Iterator[str]:
    plan, _steps = desk.plan()
    yield f"#others-{plan} summary"
    yield f"#delete-plan-{plan}"
    expect(desk.page.locator(f"#plan-{plan}")).to_have_count(0)


@scene
def validate_in_the_plan(desk: Desk) -> Iterator[str]:
    step = desk.awaiting()
    yield f"#task-{step} summary"
    yield f"#step-validate-manual-{step}"
    desk.expect_step(step, "done")


@scene
def send_back_in_the_plan(desk: Desk) -> Iterator[str]:
    step = desk.awaiting()
    yield f"#task-{step} summary"
    yield f"#step-reject-{step} summary"
    desk.page.locator(f"#step-remark-{step}").fill("Not yet")
    yield f"#step-reject-{step} button"
    desk.expect_step(step, "current")


@scene
def reset_in_the_plan(desk: Desk) -> Iterator[str]:
    step = desk.blocked()
    yield f"#task-{step} summary"
    yield f"#step-reset-{step}"
    desk.expect_step(step, "pending")


@scene
def skip_in_the_plan(desk: Desk) -> Iterator[str]:
    step = desk.blocked()
    yield f"#task-{step} summary"
    yield f"#step-skip-{step}"
    desk.expect_step(step, "skipped")


@scene
def edit_a_step(desk: Desk) -> Iterator[str]:
    _plan, (step,) = desk.plan()
    yield f"#task-{step} summary"
    yield f"#edit-{step}"
    desk.fill(title="Better")
    yield "#dialog .primary"
    expect(desk.page.locator(f"#task-{step} .title")).to_contain_text("Better")


@scene
def move_a_step(desk: Desk) -> Iterator[str]:
    plan, (first, second) = desk.plan("First", "Second")
    top = desk.page.locator(f"#plan-{plan} .step").first
    yield f"#task-{second} summary"
    yield f"#up-{second}"
    expect(top).to_have_id(f"task-{second}")
    yield f"#down-{second}"
    expect(top).to_have_id(f"task-{first}")


@scene
def insert_a_step(desk: Desk) -> Iterator[str]:
    plan, (first, _second) = desk.plan("First", "Second")
    yield f"#task-{first} summary"
    yield f"#insert-{first}"
    desk.fill(title="Between", instructions="Do it")
    yield "#dialog .primary"
    expect(desk.page.locator(f"#plan-{plan} .step").nth(1)).to_contain_text("Between")


@scene
def delete_a_step(desk: Desk) -> Iterator[str]:
    _plan, (step,) = desk.plan()
    yield f"#task-{step} summary"
    yield f"#delete-{step}"
    expect(desk.page.locator(f"#task-{step}")).to_have_count(0)


@scene
def answer_in_the_panel(desk: Desk) -> Iterator[str]:
    asked = desk.asked("panel")
    yield f"#question-{asked}"
    desk.page.locator(f"#reply-{asked}").fill("That way")
    yield "#panel .primary"
    expect(desk.page.locator("#panel .answer")).to_contain_text("That way")


@scene
def close_in_the_panel(desk: Desk) -> Iterator[str]:
    asked = desk.asked("panel")
    yield f"#question-{asked}"
    yield "#panel .reply [type=button]"
    expect(desk.page.locator("#panel .thread")).to_contain_text("This question is closed")
    yield "#panel [data-do=close-panel]"
    expect(desk.page.locator("#panel")).to_be_hidden()


@scene
def read_the_history(desk: Desk) -> Iterator[str]:
    asked = desk.asked("panel")
    yield "#history"
    yield "#panel [data-do=close-panel]"
    yield "#history"
    yield f"#past-{asked}"
    expect(desk.page.locator("#panel .thread")).to_contain_text("Please say.")
    yield "#panel [data-do=close-panel]"
    expect(desk.page.locator("#panel")).to_be_hidden()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("play", scene, ids=lambda play: play.__name__)
def test_a_control_does_what_it_says(play: Scene, way: str, site: Site, hands) -> None:
    desk = Desk(site, hands[way])
    desk.open()
    hands[way].play(play(desk))


def test_the_skip_link_leads_past_the_header(site: Site, hands) -> None:
    desk = Desk(site, hands["keyboard"])
    desk.open()
    desk.page.keyboard.press("Tab")
    expect(desk.page.locator(".skip")).to_be_focused()
    desk.page.keyboard.press("Enter")
    expect(desk.page).to_have_url(f"{site.url}/#main")


@pytest.mark.parametrize("way", WAYS)
def test_no_control_that_was_seen_is_left_out(way: str, hands) -> None:
    assert hands[way].left_out(len(scene)) == {SKIP_LINK}
