"""Measure everything, or what the arguments name: `python -m bench start tools writes`."""

import json
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict

import pytest

from bench import board, comparison, feed, growth, hooks, search, start, tools, waiting, writes
from bench.database import PROJECT
from bench.report import Figure, skipped, table

MEASURES: dict[str, Callable[[], list[Figure]]] = {
    "start": start.measure,
    "tools": tools.measure,
    "writes": writes.measure,
    "messages": comparison.messages,
    "steps": comparison.steps,
    "feed": feed.measure,
    "board": board.measure,
    "waiting": waiting.measure,
    "hooks": hooks.measure,
    "growth": growth.measure,
    "search": search.measure,
}
"""A new measure is one module with `measure() -> list[Figure]`, and one entry here."""


def main(names: list[str]) -> int:
    """Print the table, keep the figures; the status is 1 for a limit missed or a measure lost."""
    unknown = set(names) - set(MEASURES)
    if unknown:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(MEASURES)}")
    figures: list[tuple[str, Figure]] = []
    try:
        for name in names or MEASURES:
            print(f"measuring {name}", file=sys.stderr, flush=True)
            figures += [(name, figure) for figure in measured(name)]
    finally:  # who interrupts a long run still gets what it has measured
        print(table(figures))
        keep(figures)
    return int(any(figure.bad for _name, figure in figures))


def measured(name: str) -> list[Figure]:
    """Return a measure's figures; one that fails costs no other measure its own."""
    try:
        return MEASURES[name]()
    except pytest.skip.Exception as missing:  # a part of the tests' that this machine lacks
        return [skipped(name, str(missing))]
    except (Exception, pytest.fail.Exception) as error:
        traceback.print_exc()
        reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        return [Figure(name, None, reason=reason, failed=True)]


def keep(figures: list[tuple[str, Figure]]) -> None:
    """Write the figures down beside those of the runs before."""
    results = PROJECT / "bench" / "results"
    results.mkdir(exist_ok=True)
    path = results / time.strftime("%Y%m%d-%H%M%S.json")
    rows = [{"measure": name, **asdict(figure), "holds": figure.holds} for name, figure in figures]
    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    print(f"\nkept in {path.relative_to(PROJECT)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
