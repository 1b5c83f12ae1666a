"""Figures, the limits that they are held to, and the one table of them."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value; `limit` is what it must stay under, or reach with `at_least`.

    Without a value, `reason` says why: what was skipped, or what `failed`.
    """

    name: str
    value: float | None
    unit: str = ""
    limit: float | None = None
    at_least: bool = False
    reason: str = ""
    failed: bool = False

    @property
    def holds(self) -> bool | None:
        """Tell whether the limit is kept; None where there is none, or nothing to hold to it."""
        if self.limit is None or self.value is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    @property
    def verdict(self) -> str:
        """Return the table's last word on it."""
        if self.value is None:
            return f"FAILED: {self.reason}" if self.failed else f"skipped: {self.reason}"
        return {None: "", True: "ok", False: "MISSED"}[self.holds]

    @property
    def bad(self) -> bool:
        """Tell whether the whole run fails for it."""
        return self.failed or self.holds is False

    def line(self, width: int = 44) -> str:
        """Return the figure's line of the table."""
        sign = "≥" if self.at_least else "≤"
        limit = "" if self.limit is None else f"{sign} {self.limit:.4g}"
        value = "" if self.value is None else f"{self.value:.2f}"
        return f"{self.name:<{width}} {value:>10} {self.unit:<9} {limit:<9} {self.verdict}".rstrip()


def skipped(name: str, reason: str) -> Figure:
    """Return the line of what this machine cannot measure."""
    return Figure(name, None, reason=reason)


def table(figures: Iterable[tuple[str, Figure]]) -> str:
    """Return the table of figures, each under the measure that it belongs to."""
    rows = list(figures)
    width = max((len(figure.name) for _measure, figure in rows), default=0)
    lines, last = [f"  {'':<{width}} {'figure':>10} {'':<9} limit"], ""
    for measure, figure in rows:
        if measure != last:
            lines.append(measure)
            last = measure
        lines.append(f"  {figure.line(width)}")
    return "\n".join(lines)


def percentile(values: list[float], share: float) -> float:
    """Return the value under which `share` of them lie."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(len(ranked) * share))]
