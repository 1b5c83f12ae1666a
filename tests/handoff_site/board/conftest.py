"""A served board and people in real Chromium windows."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.conftest import skip_or_fail
from tests.serving import FLAGS, Site, chromium_path, serving


@pytest.fixture(scope="module")
def site(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    yield from serving(migrated_file, tmp_path_factory.mktemp("site"), HANDOFF_LANGUAGE="en")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium_path()
    if path is None:
        skip_or_fail("needs Chromium (Debian's package chromium)")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


Opener = Callable[..., Page]


@pytest.fixture
def person(site: Site, browser: Browser) -> Iterator[Opener]:
    """Open the board as somebody signed in; a page error or a refused script fails the test."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def open_board(
        username: str = "admin", permissions: list[str] | None = None, path: str = "/", **options
    ) -> Page:
        key = site.scribe("sign_in", username=username, permissions=permissions)
        context = browser.new_context(**options)
        contexts.append(context)
        context.add_cookies([{"name": "handoff_session", "value": key, "url": site.url}])
        page = context.new_page()
        page.set_default_timeout(8000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda m: "Content Security" in m.text and errors.append(m.text))
        page.goto(site.url + path)
        page.wait_for_selector("#live[data-state=live]")
        return page

    yield open_board
    for context in contexts:
        context.close()
    assert errors == []
