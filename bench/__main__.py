"""Measure everything, or what the arguments name: `python -m bench start tools writes`."""

import json
import sys
import time
from dataclasses import asdict

from bench import growth, search, start, tools, waiting, writes
from bench.database import PROJECT

MEASURES = {
    "growth": growth.measure,
    "search": search.measure,
    "start": start.measure,
    "tools": tools.measure,
    "waiting": waiting.measure,
    "writes": writes.measure,
}
"""A new measure is one module with `measure() -> list[Figure]`, and one entry here."""


def main(names: list[str]) -> int:
    """Print the table, keep the figures; the status is 1 when a limit is missed."""
    unknown = set(names) - set(MEASURES)
    if unknown:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(MEASURES)}")
    figures = []
    for name in names or MEASURES:
        print(f"\n{name}", flush=True)
        for figure in MEASURES[name]():
            print(f"  {figure.line()}", flush=True)
            figures.append({"measure": name, **asdict(figure), "holds": figure.holds})
    results = PROJECT / "bench" / "results"
    results.mkdir(exist_ok=True)
    path = results / time.strftime("%Y%m%d-%H%M%S.json")
    path.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
    print(f"\nkept in {path.relative_to(PROJECT)}")
    return int(any(figure["holds"] is False for figure in figures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
