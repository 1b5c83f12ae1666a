"""Make the README's screenshots from `manage.py demo`: `python docs/screenshots.py`.

Needs what testing needs: requirements-dev.txt and Chromium.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from tests.serving import FLAGS, Site, chromium_path  # noqa: E402

SHOTS = [
    ("light", {"color_scheme": "light", "viewport": {"width": 1400, "height": 860}}),
    ("dark", {"color_scheme": "dark", "viewport": {"width": 1400, "height": 860}}),
    ("phone", {"color_scheme": "light", "viewport": {"width": 390, "height": 844}}),
]


def main() -> None:
    """Serve a demo on a database of its own and take its picture, three times."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        site = Site(Path(folder) / "handoff.sqlite")
        manage = [sys.executable, PROJECT / "manage.py", "demo"]
        subprocess.run(manage, env=site.environment, check=True)
        key = site.scribe("sign_in", username="admin")
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        for name, options in SHOTS:
            context = browser.new_context(device_scale_factor=1, **options)
            cookie = {"name": "handoff_session", "value": key, "url": site.url}
            context.add_cookies([cookie])
            page = context.new_page()
            page.goto(site.url)
            page.wait_for_selector("#live[data-state=live]")
            page.screenshot(path=PROJECT / "docs" / "images" / f"board-{name}.png")
        browser.close()
        site.stop()


if __name__ == "__main__":
    main()
