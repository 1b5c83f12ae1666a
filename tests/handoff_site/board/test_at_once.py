"""Two browsers and an agent at once: one outcome, and nobody's typing is lost."""

from playwright.sync_api import expect

from tests.serving import Site


def test_an_agent_takes_a_step_while_one_drags_it_and_another_edits_it(site: Site, person) -> None:
    plan, (first, second, _third) = site.scribe.plan("app", "Contested", "One", "Two", "Three")
    dragger, editor = person(), person(username="editor")
    editor.locator(f"#task-{first} summary").first.click()
    editor.locator(f"#edit-{first}").click()
    editor.locator("#dialog [name=title]").fill("One, edited at length")
    held = dragger.locator(f"#task-{first} summary").first
    held.hover()
    dragger.mouse.down()
    dragger.locator(f"#task-{second} summary").first.hover()
    site.scribe.promote("app")
    expect(editor.locator(f"#task-{first}")).to_have_class("step current")
    dragger.locator(f"#end-{plan}").hover()
    dragger.mouse.up()
    editor.locator("#dialog .primary").click()
    expect(editor.locator("#dialog [role=alert]").first).to_be_visible()
    expect(editor.locator("#dialog [name=title]")).to_have_value("One, edited at length")
    for page in (dragger, editor):
        expect(page.locator(f"#plan-{plan} .step").first).to_have_attribute("id", f"task-{first}")
        expect(page.locator(f"#task-{first}")).to_have_class("step current")
        expect(page.locator(f"#task-{first} .title")).to_contain_text("One")
    task = site.scribe("plans.selectors.tasks.task_detail", task_id=first)
    assert "title='One'" in task


def test_an_open_dialog_is_never_overwritten_by_what_arrives(site: Site, person) -> None:
    plan, (step,) = site.scribe.plan("panel", "Quiet dialog", "Only")
    page = person()
    page.locator(f"#task-{step} summary").first.click()
    page.locator(f"#edit-{step}").click()
    box = page.locator("#dialog [name=instructions]")
    box.fill("A long text that took ten minutes")
    for number in range(5):
        site.scribe(
            "plans.services.tasks.add_task",
            actor="human", plan_id=plan, title=f"More {number}", instructions="x",
        )  # fmt: skip
    expect(page.locator(f"#plan-{plan} .step")).to_have_count(6)
    expect(box).to_have_value("A long text that took ten minutes")
    expect(box).to_be_focused()


def test_focus_stays_where_it_was_when_the_board_is_drawn_anew(site: Site, person) -> None:
    plan, (step, *_others) = site.scribe.plan("panel", "Steady focus", "One", "Two")
    page = person()
    shown = page.locator(f"#plan-{plan}")
    if shown.locator("details").first.get_attribute("open") is None:
        shown.locator("summary").first.click()
    page.locator(f"#task-{step} summary").first.click()
    page.locator(f"#edit-{step}").focus()
    site.scribe(
        "plans.services.tasks.add_task",
        actor="human", plan_id=plan, title="Arrives", instructions="x",
    )  # fmt: skip
    expect(shown).to_contain_text("Arrives")
    expect(page.locator(f"#edit-{step}")).to_be_focused()
    expect(page.locator(f"#more-{step}")).to_be_visible()


def test_a_storm_ends_in_one_state_on_every_board(site: Site, person) -> None:
    plan, steps = site.scribe.plan("panel", "Storm", *[f"Step {n}" for n in range(8)])
    pages = [person(), person(username="second")]
    for number in range(60):
        site.scribe(
            "plans.services.tasks.move_task",
            actor="human",
            task_id=steps[number % 8],
            direction="up" if number % 3 else "down",
        )
    order = site.scribe("plans.selectors.queues.steps_of", plan_id=plan)
    ids = [line.split(",")[0] for line in str(order).split("TaskDetail(id=")[1:]]
    for page in pages:
        shown = page.locator(f"#plan-{plan}")
        if shown.locator("details").first.get_attribute("open") is None:
            shown.locator("summary").first.click()
        for place, task_id in enumerate(ids):
            expect(shown.locator(".step").nth(place)).to_have_attribute("id", f"task-{task_id}")
