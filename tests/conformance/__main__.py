"""Serve a site on a fresh database, and let MCP's own tools judge it."""

# ruff: noqa: T201 - read at a terminal

import argparse
import functools
import sys
import tempfile
import threading
from itertools import count
from pathlib import Path

import anyio
import anyio.to_thread

from tests.conformance import inspector, suite
from tests.conformance.door import Stand, opened
from tests.conformance.scope import VERSIONS
from tests.conformance.tooling import Tooling, installed
from tests.databases import copied, migrated
from tests.serving import Site, free_port

MINTING = "tests.mcp_bridge.http.minting"


def main() -> int:
    """Run what was asked for; 0 when nothing was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=Path, help="folder of the npm packages, kept for next time")
    parser.add_argument("--only", choices=("suite", "inspector"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="handoff-conformance-") as name:
        folder = Path(name)
        (folder / "site").mkdir()
        tooling = installed(options.tools or folder / "tools")
        with migrated(folder) as template, copied(template, folder / "site") as database:
            site = Site(database)
            try:
                return judged(tooling, site, folder, options.only)
            finally:
                site.stop()


def judged(tooling: Tooling, site: Site, folder: Path, only: str | None) -> int:
    """Return how many of the judges are not content."""
    found = 0
    if only != "inspector":
        found += not anyio.run(conforms, tooling, site, folder)
    if only != "suite":
        found += not inspected(tooling, site)
    return found


async def conforms(tooling: Tooling, site: Site, folder: Path) -> bool:
    """Run the suite for every version through a door that knows a token."""
    names = count()

    def add_session() -> None:
        site.scribe(f"{MINTING}.add_session", key=f"added-{next(names)}")

    def add_sessions() -> None:
        for seconds in (1, 3, 5):
            threading.Timer(seconds, add_session).start()

    stands = {
        "test_simple_text": Stand("mf_health", {}),
        "test_error_handling": Stand("mf_thread", {"message_id": 0}),
        # Each change elsewhere shows as progress; the suite gives a call ten seconds.
        "test_tool_with_progress": Stand("mf_wait", {"timeout": 8}, first=add_sessions),
        "test_trigger_tool_change": Stand("mf_health", {}, first=add_session),
    }
    key = site.scribe(f"{MINTING}.mint", session="panel")
    content = True
    async with opened(site.url, key, free_port(), stands) as url:
        for version in VERSIONS:
            work = functools.partial(suite.run, tooling, url, version, folder / version)
            content &= suite.told(version, await anyio.to_thread.run_sync(work))
    return content


def inspected(tooling: Tooling, site: Site) -> bool:
    """Have the Inspector list and call every tool over both transports."""
    key = site.scribe(f"{MINTING}.mint", session="panel")
    content = True
    for transport, target in (
        ("stdio", inspector.over_stdio("panel", site.environment)),
        ("http", inspector.over_http(site.url, key)),
    ):
        complaints = list(inspector.inspect(tooling, target, site.environment))
        tools = len(inspector.CALLS)
        print(f"\nInspector over {transport}: {tools} tools, {len(complaints)} complaints")
        print("\n".join(f"  {one}" for one in complaints))
        content &= not complaints
    return content


if __name__ == "__main__":
    sys.exit(main())
