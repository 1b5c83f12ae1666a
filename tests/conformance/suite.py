"""Run the conformance suite and tell what it found from what is not for us."""

# ruff: noqa: T201 - read at a terminal

import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.conformance.scope import reason_for
from tests.conformance.tooling import Tooling

NAMED = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d\d-\d\dT.+")
"""A scenario's folder: when it ran ends its name."""
PASSED = {"SUCCESS", "INFO", "SKIPPED", "WARNING"}
"""A warning is about what a server SHOULD do."""


@dataclass(slots=True)
class Verdict:
    """One scenario under one protocol version."""

    passed: int = 0
    warnings: list[str] = field(default_factory=list)
    not_for_us: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)


def run(tooling: Tooling, url: str, version: str, folder: Path) -> dict[str, Verdict]:
    """Run every scenario of a version; return the verdict on each.

    One that fails is run again by itself: the suite gives some answers a second, which a busy
    machine misses.
    """
    asked = ["--url", url, "--spec-version", version]
    verdicts = verdicts_of(tooling, [*asked, "--suite", "all"], folder)
    for name in [name for name, verdict in verdicts.items() if verdict.failures]:
        again = [*asked, "--scenario", name]
        verdicts |= verdicts_of(tooling, again, folder / "again" / name)
    return verdicts


def verdicts_of(tooling: Tooling, asked: list[str], folder: Path) -> dict[str, Verdict]:
    """Run the suite once."""
    done = subprocess.run(
        [*tooling.conformance, "server", *asked, "-o", str(folder)], capture_output=True, text=True
    )
    verdicts: dict[str, Verdict] = defaultdict(Verdict)
    for scenario, check in checks(folder):
        judge(verdicts[scenario], scenario, check)
    if not verdicts:
        raise SystemExit(f"the suite did not run: {done.stdout[-500:]}{done.stderr[-500:]}")
    return verdicts


def checks(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each scenario's name and checks, from where the suite wrote them."""
    for file in sorted(folder.glob("*/checks.json")):
        scenario = NAMED.fullmatch(file.parent.name)["scenario"]  # type: ignore[index]
        for check in json.loads(file.read_text()):
            yield scenario, check


def judge(verdict: Verdict, scenario: str, check: dict[str, str]) -> None:
    """Count one check."""
    words = f"{check['id']}: {check.get('errorMessage', '')}"
    if check["status"] in PASSED:
        verdict.passed += 1
        if check["status"] == "WARNING":
            verdict.warnings.append(words)
    elif reason := reason_for(scenario, check["id"]):
        verdict.not_for_us.add(reason)
    else:
        verdict.failures.append(words)


def told(version: str, verdicts: dict[str, Verdict]) -> bool:
    """Print the verdicts of a version; return whether all is well."""
    failed = {name: verdict for name, verdict in verdicts.items() if verdict.failures}
    apart = [name for name, v in verdicts.items() if v.not_for_us and not v.failures]
    passed = len(verdicts) - len(failed) - len(apart)
    print(f"\n{version}: {passed} scenarios passed, {len(apart)} not for us, {len(failed)} failed")
    for name, verdict in sorted(verdicts.items()):
        mark = "FAIL" if verdict.failures else "-" if verdict.not_for_us else "ok"
        print(f"  {mark:4} {name} ({verdict.passed}) {'; '.join(sorted(verdict.not_for_us))}")
        for words in verdict.failures + [f"warning: {w}" for w in verdict.warnings]:
            print(f"         {words}")
    return not failed
