"""How long an agent's change takes to reach the page, with twenty boards open; and the page."""

import time

from playwright.sync_api import Browser, Page, sync_playwright

from bench.agent import Agent
from bench.database import fresh_database
from bench.report import Figure, percentile
from tests.conftest import wait_until
from tests.serving import FLAGS, Site, chromium_path

BROWSERS = 20
PLANS = 50
STEPS_EACH = 20
ROUNDS = 30
WARM_UP = 3
"""Changes that no page is timed for: a page's first one compiles its script."""
PAUSE_SECONDS = 1.5
"""Between two changes: the delay is what is measured, not a queue of twenty pages to paint."""
LOADS = 10

WATCH = """() => {
  window.seen = {};
  const part = document.getElementById("for-you");
  new MutationObserver(() => {
    for (const [mark] of part.textContent.matchAll(/mesure-\\d+-/g)) {
      window.seen[mark] ??= Date.now();
    }
  }).observe(part, { childList: true, subtree: true, characterData: true });
}"""


def measure() -> list[Figure]:
    """Return the delay from before the agent's call to the changed page, on every board."""
    with fresh_database() as database:
        site = Site(database)
        try:
            _fill(site)
            key = site.scribe("sign_in", username="admin")
            with sync_playwright() as playwright, Agent("panel", database=database) as agent:
                browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
                agent.initialize()
                delays, load = _watched(site, browser, key, agent)
                browser.close()
        finally:
            site.stop()
    return [
        Figure("change to page, 20 boards, p50", percentile(delays, 0.5), "ms"),
        Figure("change to page, 20 boards, p95", percentile(delays, 0.95), "ms", limit=200),
        Figure("board of 50 × 20 steps, to first byte, p50", load, "ms", limit=300),
    ]


def _fill(site: Site) -> None:
    for number in range(PLANS):
        titles = [f"Étape {step}" for step in range(STEPS_EACH)]
        site.scribe.plan(("panel", "app")[number % 2], f"Plan {number}", *titles)


def _watched(site: Site, browser: Browser, key: str, agent: Agent) -> tuple[list[float], float]:
    pages = [_open(site, browser, key) for _number in range(BROWSERS)]
    for page in pages:
        page.evaluate(WATCH)
    begun = {}
    for number in range(WARM_UP + ROUNDS):
        begun[f"mesure-{number}-"] = time.time() * 1000
        agent.call("mf_ask", to="human", subject=f"mesure-{number}-", body="Une question.")
        time.sleep(PAUSE_SECONDS)
    delays = []
    for page in pages:
        wait_until(lambda: len(page.evaluate("window.seen")) == len(begun), seconds=60)  # noqa: B023
        seen = page.evaluate("window.seen")
        delays += [seen[mark] - at for mark, at in list(begun.items())[WARM_UP:]]
    first_bytes = "performance.getEntriesByType('navigation')[0].responseStart"
    loads = []
    for _number in range(LOADS):
        pages[0].reload()
        loads.append(pages[0].evaluate(first_bytes))
    return delays, percentile(loads, 0.5)


def _open(site: Site, browser: Browser, key: str) -> Page:
    context = browser.new_context()
    context.add_cookies([{"name": "handoff_session", "value": key, "url": site.url}])
    page = context.new_page()
    page.goto(site.url)
    page.wait_for_selector("#live[data-state=live]")
    return page
