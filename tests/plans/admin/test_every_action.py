"""Every action of the admin's lists and every button of the editor, by mouse and by keyboard."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, expect

from tests.handoff_site.board.pressing import WAYS, Hand, Scene, Scenes, two_hands
from tests.serving import Scribe, Site, free_port

pytestmark = pytest.mark.browser
scene = Scenes()
OURS = ".step-buttons, .step-bar, #steps, .step-ask"
PLANS, STEPS = "/admin/plans/plan/", "/admin/plans/task/"
ADDED = "tests.plans.admin.pages"


@dataclass
class Bulk:
    """An action of a list on one row: how the row is made, and what the page says after it."""

    path: str
    action: str
    make: Callable[[Scribe], object]
    said: str


def step(status: str) -> Callable[[Scribe], object]:
    return lambda scribe: scribe(f"{ADDED}.add_step", status=status)


def plan(status: str) -> Callable[[Scribe], object]:
    return lambda scribe: scribe(f"{ADDED}.add_plan", status=status)[0]


def question(scribe: Scribe) -> object:
    ask = "coordination.services.messages.ask"
    return scribe(ask, actor="panel", to="app", subject="s", body="b")


def session(scribe: Scribe) -> object:
    key = f"to-delete-{free_port()}"
    scribe(f"{ADDED}.add_session", key=key)
    return key


def token(kind: str) -> Callable[[Scribe], object]:
    return lambda scribe: scribe(f"{ADDED}.add_token", kind=kind)


def target(scribe: Scribe) -> object:
    url = f"json://127.0.0.1:{free_port()}"
    return scribe("tests.notifications.factories.make_target", url=url, user="admin")


API, AGENT = "/admin/coordination/apitoken/", "/admin/coordination/agenttoken/"
MESSAGES, SESSIONS = "/admin/coordination/message/", "/admin/coordination/session/"
TARGETS = "/admin/notifications/target/"
DELETED = "Successfully deleted 1"
BULK = [
    Bulk(PLANS, "pause_selected", plan("active"), "Plans paused: 1."),
    Bulk(PLANS, "resume_selected", plan("paused"), "Plans resumed: 1."),
    Bulk(PLANS, "archive_selected", plan("active"), "Plans archived: 1."),
    Bulk(PLANS, "delete_selected", plan("active"), DELETED),
    Bulk(STEPS, "validate_manual", step("awaiting_human"), "Steps validated: 1."),
    Bulk(STEPS, "reject", step("awaiting_human"), "Steps sent back: 1."),
    Bulk(STEPS, "reset", step("failed"), "Steps reset: 1."),
    Bulk(STEPS, "skip", step("pending"), "Steps skipped: 1."),
    Bulk(STEPS, "delete_selected", step("pending"), DELETED),
    Bulk(MESSAGES, "close_selected", question, "The selected questions are closed."),
    Bulk(MESSAGES, "delete_selected", question, DELETED),
    Bulk(SESSIONS, "delete_selected", session, DELETED),
    Bulk(API, "revoke_selected", token("api"), "The selected tokens are revoked."),
    Bulk(API, "delete_selected", token("api"), DELETED),
    Bulk(AGENT, "revoke_selected", token("agent"), "The selected tokens are revoked."),
    Bulk(AGENT, "delete_selected", token("agent"), DELETED),
    Bulk(TARGETS, "test_selected", target, "the test was not sent"),
    Bulk(TARGETS, "delete_selected", target, DELETED),
]


class Office:
    """The admin of one test, without plans and questions when it begins."""

    def __init__(self, site: Site, hand: Hand) -> None:
        self.site, self.page, self.scribe = site, hand.page, site.scribe
        self.scribe("tests.handoff_site.board.pressing.clear")
        key = self.scribe("sign_in", username="admin")
        cookie = {"name": "handoff_session", "value": key, "url": site.url}
        self.page.context.add_cookies([cookie])

    def go(self, path: str) -> None:
        """Open a page."""
        self.page.goto(self.site.url + path)

    def expect_said(self, text: str) -> None:
        """See a message."""
        expect(self.page.get_by_text(text).first).to_be_visible()


@pytest.fixture(scope="module")
def hands(site: Site, browser: Browser) -> Iterator[dict[str, Hand]]:
    """A page for each way to press: opened once, for all scenes."""
    expect.set_options(timeout=20_000)  # a busy machine is no failure
    with two_hands(browser, OURS) as made:
        yield made
    expect.set_options(timeout=5000)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bulk", BULK, ids=lambda bulk: bulk.path.split("/")[3] + "-" + bulk.action)
def test_a_selected_row_is_acted_on(bulk: Bulk, way: str, site: Site, hands) -> None:
    hand, office = Hand(hands[way].page, way, OURS), Office(site, hands[way])
    made = bulk.make(site.scribe)
    office.go(bulk.path)
    hand.play(iter([f".action-select[value='{made}']"]))
    chosen = office.page.locator("select[name=action]")
    if way == "mouse":
        chosen.select_option(bulk.action)
    else:
        chosen.focus()
        label = chosen.locator(f"option[value={bulk.action}]").inner_text()
        office.page.keyboard.type(label)
        expect(chosen).to_have_value(bulk.action)
    hand.play(iter(["#changelist-actions button[name=index]"]))
    if bulk.action == "reject":
        office.page.locator("#id_remark").fill("Not yet")
        hand.play(iter(["#ask_form button"]))
    if bulk.action == "delete_selected":
        hand.play(iter(['button:text("Yes, I’m sure")']))
    office.expect_said(bulk.said)


@pytest.mark.parametrize("path", sorted({bulk.path for bulk in BULK}))
def test_no_action_of_a_list_is_left_out(path: str, site: Site, hands) -> None:
    office = Office(site, hands["mouse"])
    bulk = [one for one in BULK if one.path == path]
    bulk[0].make(site.scribe)
    office.go(path)
    offered = office.page.locator("select[name=action] option").evaluate_all(
        "options => options.map((option) => option.value).filter(Boolean)"
    )
    assert sorted(offered) == sorted(one.action for one in bulk)


@scene
def plans_from_the_list(office: Office) -> Iterator[str]:
    made = plan("active")(office.scribe)
    office.go(PLANS)
    for action, said in (
        ("pause", "Plans paused: 1."),
        ("resume", "Plans resumed: 1."),
        ("archive", "Plans archived: 1."),
    ):
        yield f"[formaction^='{PLANS}{made}/do/{action}/']"
        office.expect_said(said)
    yield f"[formaction^='{PLANS}{made}/duplicate/']"
    office.expect_said(f"This is the copy of plan #{made}.")


@scene
def plans_from_their_page(office: Office) -> Iterator[str]:
    made = plan("active")(office.scribe)
    office.go(f"{PLANS}{made}/change/")
    for action, said in (
        ("pause", "Plans paused: 1."),
        ("resume", "Plans resumed: 1."),
        ("archive", "Plans archived: 1."),
    ):
        yield f".step-bar [formaction^='{PLANS}{made}/do/{action}/']"
        office.expect_said(said)
    yield f".step-bar [formaction^='{PLANS}{made}/duplicate/']"
    office.expect_said(f"This is the copy of plan #{made}.")


def acted(office: Office, place: str, open_page: Callable[[int], Iterator[str]]) -> Iterator[str]:
    """Do to a step, from one place, everything that its states allow."""
    for status, event, said in (
        ("awaiting_human", "validate-manual", "Steps validated: 1."),
        ("awaiting_human", "reject", "Steps sent back: 1."),
        ("failed", "reset", "Steps reset: 1."),
        ("pending", "skip", "Steps skipped: 1."),
    ):
        made = office.scribe(f"{ADDED}.add_step", status=status)
        yield from open_page(made)
        address = f"'{STEPS}{made}/do/{event}/'"
        yield f"{place} :is([formaction^={address}], [href^={address}])"
        if event == "reject":
            office.page.locator("#id_remark").fill("Not yet")
            yield "#ask_form button"
        office.expect_said(said)


@scene
def steps_from_the_list(office: Office) -> Iterator[str]:
    def open_page(_made: int) -> Iterator[str]:
        office.go(STEPS)
        return iter(())

    yield from acted(office, ".step-buttons", open_page)


@scene
def steps_from_their_page(office: Office) -> Iterator[str]:
    def open_page(made: int) -> Iterator[str]:
        office.go(f"{STEPS}{made}/change/")
        return iter(())

    yield from acted(office, ".step-bar", open_page)


@scene
def steps_from_their_plans_page(office: Office) -> Iterator[str]:
    def open_page(made: int) -> Iterator[str]:
        office.go(f"{STEPS}{made}/change/")
        office.page.locator("a.step-link").first.click()
        yield f"[data-step='{made}'] summary"

    yield from acted(office, ".step-actions", open_page)


@scene
def a_plan_is_edited(office: Office) -> Iterator[str]:
    made, (first, second) = office.scribe(f"{ADDED}.add_plan", steps=2)
    office.go(f"{PLANS}{made}/change/")
    titles = office.page.locator(".step-row .step-title")
    yield f"[data-step='{second}'] [data-move=up]"
    expect(titles).to_have_text(["Step 1", "Step 0"])
    yield f"[data-step='{second}'] [data-move=down]"
    expect(titles).to_have_text(["Step 0", "Step 1"])
    yield f"[data-step='{first}'] summary"
    yield f"[data-step='{first}'] [data-preview-of]"
    expect(office.page.locator(f"[data-step='{first}'] .step-preview p")).to_have_text("Do it.")
    yield "#add-step"
    yield "#add-step"
    yield "[data-step=new-0] summary"
    yield "[data-step=new-1] [data-remove]"
    expect(office.page.locator("[data-step=new-1]")).to_have_count(0)
    yield "[data-step=new-0] summary"
    office.page.locator("[data-step=new-0] [name$=-title]").fill("Added")
    office.page.locator("[data-step=new-0] [name$=-instructions]").fill("x")
    yield f"[name=steps-{second}-delete]"
    yield "[name=_continue]"
    office.expect_said("was changed successfully")
    expect(titles).to_have_text(["Step 0", "Added"])
    yield f"[data-step='{first}'] summary"
    yield f"[data-step='{first}'] .step-link"
    expect(office.page).to_have_url(f"{office.site.url}{STEPS}{first}/change/")


@scene
def a_long_plan_is_leafed_through(office: Office) -> Iterator[str]:
    made, steps = office.scribe(f"{ADDED}.add_plan", steps=101)
    office.go(f"{PLANS}{made}/change/")
    yield ".step-pages a"
    expect(office.page.locator(".step-row")).to_have_attribute("data-step", str(steps[-1]))


@scene
def a_target_is_saved_and_tried(office: Office) -> Iterator[str]:
    office.go(f"{TARGETS}{target(office.scribe)}/change/")
    yield "[name$=save_and_test]"
    office.expect_said("the test was not sent")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("play", scene, ids=lambda play: play.__name__)
def test_a_button_does_what_it_says(play: Scene, way: str, site: Site, hands) -> None:
    hands[way].play(play(Office(site, hands[way])))


@pytest.mark.parametrize("way", WAYS)
def test_no_button_that_was_seen_is_left_out(way: str, hands) -> None:
    assert hands[way].left_out(len(scene)) == set()
