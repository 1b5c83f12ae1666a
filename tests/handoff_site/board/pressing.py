"""Press what a page offers, by mouse or by keyboard, and keep count of what was not pressed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Page, expect

WAYS = ("mouse", "keyboard")

NAMED = """
    (control) => {
      const plain = (text) => text.replace(/\\d+/g, "N").trim();
      const inside = control.closest("dialog, #panel, #results, #questions, .card, .step, .plan, "
        + ".column, header, .step-row, .step-bar, #steps, form, body");
      const place = inside.id && !/\\d/.test(inside.id) ? inside.id
        : inside.classList[0] ?? inside.localName;
      const href = control.getAttribute("href");
      const name = control.localName === "summary" ? `summary of ${control.parentElement.className}`
        : control.id || control.dataset.do || control.dataset.move || (href?.includes("#") && href)
        || control.dataset.previewOf && "preview" || control.textContent;
      return `${place}: ${plain(name)} ${control.dataset.do ? control.value : ""}`.trim();
    }
"""
"""A control's name, the same whatever the rows it stands in are about."""

SHOWN = f"""
    (parts) => [...document.querySelectorAll(parts)].flatMap((part) =>
      [...part.querySelectorAll("a[href], button, summary")]).filter((control) =>
      control.checkVisibility() && !control.closest(".prose, .step-prose")).map({NAMED})
"""
"""The names of the controls that a page shows; links in texts that people wrote are none."""

Scene = Callable[..., Iterator[str]]
"""What is done with a page: yields each control to press, then looks at what came of it."""


class Scenes(list[Scene]):
    """The scenes of a module: each is added by decorating it."""

    def __call__(self, play: Scene) -> Scene:
        """Add a scene."""
        self.append(play)
        return play


@dataclass
class Hand:
    """One way to press, and what it has seen and pressed."""

    page: Page
    way: str
    parts: str
    seen: set[str] = field(default_factory=set)
    pressed: set[str] = field(default_factory=set)
    played: int = 0

    def play(self, scene: Iterator[str]) -> None:
        """Press each control that the scene yields."""
        for selector in scene:
            control = self.page.locator(selector).first
            expect(control).to_be_visible()
            self.seen |= set(self.page.evaluate(SHOWN, self.parts))
            self.pressed.add(control.evaluate(NAMED))
            if self.way == "mouse":
                control.click()
                continue
            assert control.evaluate("control => control.tabIndex") >= 0, selector
            control.focus()
            expect(control).to_be_focused()
            ticked = control.evaluate("control => control.type === 'checkbox'")
            self.page.keyboard.press("Space" if ticked else "Enter")
        self.played += 1

    def left_out(self, scenes: int) -> set[str]:
        """Return what was seen and never pressed, once every scene has been played."""
        if self.played < scenes:
            pytest.skip("the census wants every scene to have been played")
        assert self.seen & self.pressed
        return self.seen - self.pressed


@contextmanager
def two_hands(browser: Browser, parts: str) -> Iterator[dict[str, Hand]]:
    """Open a page for each way to press; an error on one fails the test that closes them."""
    errors: list[str] = []
    made = {}
    for way in WAYS:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(20_000)  # a busy machine is no failure
        page.on("dialog", lambda dialog: dialog.accept())
        page.on("pageerror", lambda error: errors.append(str(error)))
        made[way] = Hand(page, way, parts)
    yield made
    for hand in made.values():
        hand.page.close()
    assert errors == []


def clear() -> None:
    """Empty the board; run by a scribe."""
    from coordination.models import Message
    from plans.models import Plan

    Plan.objects.all().delete()
    Message.objects.filter(parent__isnull=False).delete()
    Message.objects.all().delete()
