"""What docs/conformance.md says is left out is what `make conformance` leaves out."""

import re

from tests.conformance.scope import NOT_FOR_US, OUT_OF_SCOPE, VERSIONS, reason_for
from tests.databases import PROJECT

PAGE = (PROJECT / "docs/conformance.md").read_text()


def named(text: str) -> set[str]:
    return set(re.findall(r"`([\w-]+)`", text))


def test_the_page_gives_each_reason_with_its_scenarios():
    rows = dict(re.findall(r"^\| ([^`|]+) \| (`.+`) \|$", PAGE, re.MULTILINE))
    assert {reason: named(cell) for reason, cell in rows.items()} == {
        reason: set(scenarios) for reason, scenarios in OUT_OF_SCOPE.items()
    }


def test_the_page_names_each_check_that_is_left_out():
    for scenario, checks in NOT_FOR_US.items():
        (row,) = re.findall(rf"^\| `{scenario}` \| .+$", PAGE, re.MULTILINE)
        assert named(row) == {scenario, *checks}
    assert all(version in PAGE for version in VERSIONS)


def test_only_what_is_listed_is_left_out():
    assert reason_for("prompts-list", "any")
    assert reason_for("caching", "sep-2549-prompts-list-caching-hints")
    assert not reason_for("caching", "sep-2549-tools-list-caching-hints")
    assert not reason_for("tools-list", "tools-list")
