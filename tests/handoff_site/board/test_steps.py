"""People plan on the board: every button, by mouse and by keyboard."""

from itertools import count

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.serving import Site

numbers = count(1)


@pytest.fixture
def plan(site: Site) -> tuple[str, int, list[int]]:
    """A plan of three steps of its own project's queue: title, id, step ids."""
    title = f"Plan number {next(numbers)}"
    return (title, *site.scribe.plan("panel", title, "First", "Second", "Third"))


def opened(page: Page, plan_id: int) -> Locator:
    """Return the plan, opened."""
    plan = page.locator(f"#plan-{plan_id}")
    if plan.locator("details").first.get_attribute("open") is None:
        plan.locator("summary").first.click()
    expect(plan.locator(".step").first).to_be_visible()
    return plan


def titles(plan: Locator) -> list[str]:
    return [text.split(":")[-1].strip() for text in plan.locator(".step .title").all_inner_texts()]


def step(page: Page, task_id: int) -> Locator:
    """Return a step, opened."""
    found = page.locator(f"#task-{task_id}")
    found.locator("summary").first.click()
    expect(found.locator(".more .meta").first).to_be_visible()
    return found


def test_a_plan_and_its_steps_are_written_on_the_board(person) -> None:
    page = person()
    page.locator("#new-plan-app").click()
    page.locator("#dialog [name=title]").fill("Written here")
    page.keyboard.press("Enter")
    plan = page.locator("#column-app .plan", has_text="Written here")
    plan.locator("summary").first.click()
    for title in ("One", "Two"):
        plan.get_by_text("+ Add a step").click()
        page.locator("#dialog [name=title]").fill(title)
        page.locator("#dialog [name=instructions]").fill("Do **it**")
        page.locator("#dialog .primary").click()
        expect(plan.locator(".step", has_text=title)).to_be_visible()
    expect(page.locator("#dialog")).to_be_hidden()
    assert titles(plan) == ["One", "Two"]


def test_a_refused_form_says_why_at_the_field_and_keeps_what_was_typed(person, plan) -> None:
    page = person()
    opened(page, plan[1])
    page.locator(f"#add-step-{plan[1]}").click()
    page.locator("#dialog [name=title]").fill("Checked by nothing")
    page.locator("#dialog [name=instructions]").fill("x")
    page.locator("#dialog [name=check]").select_option("shell")
    page.locator("#dialog [name=cmd]").fill("# only a comment")
    page.locator("#dialog .primary").click()
    expect(page.locator("#id_cmd_error")).to_contain_text("comments")
    expect(page.locator("#dialog [name=title]")).to_have_value("Checked by nothing")
    expect(page.locator("#dialog [name=path]")).to_be_hidden()


def test_only_the_fields_of_the_chosen_check_are_shown(person, plan) -> None:
    page = person()
    opened(page, plan[1])
    page.locator(f"#add-step-{plan[1]}").click()
    for check, shown, hidden in (
        ("manual", [], ["cmd", "path", "url", "rules"]),
        ("shell", ["cmd", "timeout"], ["path", "url"]),
        ("file_contains", ["path", "text"], ["cmd", "url"]),
        ("http_get_status", ["url", "status"], ["cmd", "path"]),
        ("several", ["rules"], ["cmd", "path"]),
    ):
        page.locator("#dialog [name=check]").select_option(check)
        for name in shown:
            expect(page.locator(f"#dialog [name={name}]")).to_be_visible()
        for name in hidden:
            expect(page.locator(f"#dialog [name={name}]")).to_be_hidden()


def test_a_step_moves_by_button_key_and_drag(person, plan) -> None:
    page = person()
    _title, plan_id, (first, second, third) = plan
    shown = opened(page, plan_id)
    step(page, second).locator("[data-move=up]").click()
    expect(shown.locator(".step").first).to_have_attribute("id", f"task-{second}")
    page.locator(f"#task-{second} summary").first.focus()
    page.keyboard.press("Alt+ArrowDown")
    expect(shown.locator(".step").first).to_have_attribute("id", f"task-{first}")
    page.locator(f"#task-{second} summary").first.click()  # folded, so that nothing shifts
    page.locator(f"#task-{third} summary").first.drag_to(
        page.locator(f"#task-{first} summary").first
    )
    expect(shown.locator(".step").first).to_have_attribute("id", f"task-{third}")
    page.locator(f"#task-{third} summary").first.drag_to(page.locator(f"#end-{plan_id}"))
    expect(shown.locator(".step").last).to_have_attribute("id", f"task-{third}")


def test_a_step_is_edited_inserted_skipped_and_deleted(person, plan) -> None:
    page = person()
    page.on("dialog", lambda dialog: dialog.accept())
    _title, plan_id, (first, second, _third) = plan
    shown = opened(page, plan_id)
    step(page, first).get_by_role("button", name="Edit").click()
    page.locator("#dialog [name=title]").fill("First, better")
    page.locator("#dialog .primary").click()
    expect(page.locator(f"#task-{first} .title")).to_contain_text("First, better")
    page.locator(f"#insert-{first}").click()
    page.locator("#dialog [name=title]").fill("Between")
    page.locator("#dialog [name=instructions]").fill("x")
    page.locator("#dialog .primary").click()
    expect(shown.locator(".step").nth(1)).to_contain_text("Between")
    page.locator(f"#step-skip-{first}").click()
    expect(page.locator(f"#task-{first}")).to_have_class("step skipped")
    step(page, second)
    page.locator(f"#delete-{second}").click()
    expect(page.locator(f"#task-{second}")).to_have_count(0)


def test_a_plan_is_paused_resumed_renamed_archived_and_deleted(person, plan, site: Site) -> None:
    page = person()
    page.on("dialog", lambda dialog: dialog.accept())
    _title, plan_id, _steps = plan
    opened(page, plan_id)
    page.locator(f"#pause-{plan_id}").click()
    expect(page.locator(f"#plan-{plan_id} .tag").first).to_have_text("paused")
    page.locator(f"#resume-{plan_id}").click()
    expect(page.locator(f"#pause-{plan_id}")).to_be_visible()
    page.locator(f"#others-{plan_id} > summary").click()
    page.locator(f"#rename-{plan_id}").click()
    page.locator("#dialog [name=title]").fill("Renamed plan")
    page.locator("#dialog .primary").click()
    expect(page.locator(f"#plan-{plan_id} h3")).to_have_text("Renamed plan")
    page.locator(f"#archive-{plan_id}").click()
    expect(page.locator(f"#plan-{plan_id}")).to_have_count(0)
    other, _ = site.scribe.plan("panel", "To delete", "x")
    opened(page, other)
    page.locator(f"#others-{other} > summary").click()
    page.locator(f"#delete-plan-{other}").click()
    expect(page.locator(f"#plan-{other}")).to_have_count(0)


def test_a_refusal_is_said_next_to_the_button_and_the_page_stays_true(site: Site, person) -> None:
    plan_id, (only,) = site.scribe.plan("app", "Refusals", "Only")
    page = person()
    opened(page, plan_id)
    step(page, only).get_by_role("button", name="Edit").click()
    page.locator("#dialog [name=title]").fill("Too late")
    site.scribe("plans.services.plans.patch_plan", actor="human", plan_id=plan_id, title="Moved on")
    site.scribe(
        "plans.services.tasks.patch_task", actor="human", task_id=only, title="Somebody else's"
    )
    page.locator("#dialog .primary").click()
    expect(page.locator("#dialog [role=alert]").first).to_contain_text("changed meanwhile")
    expect(page.locator("#dialog [name=title]")).to_have_value("Too late")
    page.locator("#dialog [data-do=close-dialog]").click()
    expect(page.locator(f"#task-{only} .title")).to_contain_text("Somebody else's")


def test_a_plan_is_copied_exported_and_given_a_pasted_list(person, plan) -> None:
    page = person()
    title, plan_id, _steps = plan
    shown = opened(page, plan_id)
    page.locator(f"#others-{plan_id} > summary").click()
    page.locator(f"#paste-{plan_id}").click()
    page.locator("#dialog [name=text]").fill("- Fourth\n  with a word on it\n- Fifth")
    page.locator("#dialog .primary").click()
    expect(shown.locator(".step")).to_have_count(5)
    page.locator(f"#duplicate-{plan_id}").click()
    expect(page.locator(".plan h3", has_text=f"{title} (copy)")).to_be_visible()
    with page.expect_download() as download:
        shown.get_by_role("link", name="Export").click()
    text = download.value.path().read_text()
    assert title in text
    assert "Fifth" in text


def test_a_list_with_a_stray_line_is_refused_where_it_was_pasted(person, plan) -> None:
    page = person()
    opened(page, plan[1])
    page.locator(f"#others-{plan[1]} > summary").click()
    page.locator(f"#paste-{plan[1]}").click()
    page.locator("#dialog [name=text]").fill("no item here\n- an item")
    page.locator("#dialog .primary").click()
    expect(page.locator("#dialog .wrong")).to_contain_text("line 1")


def test_a_current_step_whose_session_calls_nothing_says_since_when(site: Site, person) -> None:
    site.scribe("plans.services.demo._sessions")
    _plan, (step_id,) = site.scribe.plan("site", "Forgotten", "Current and silent")
    site.scribe("coordination.services.sessions.stamp", session="site")
    site.scribe.promote("site")
    site.scribe("tests.serving.long_ago", task_id=step_id)
    page = person()
    expect(page.locator(f"#task-{step_id} .silent")).to_contain_text("no call since 2 hr. ago")
    site.scribe("plans.services.transitions.skip_task", actor="human", task_id=step_id)
