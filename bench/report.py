"""Figures, and the limits that they are held to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value; `limit` is what it must stay under, or reach with `at_least`."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    at_least: bool = False

    @property
    def holds(self) -> bool | None:
        """Tell whether the limit is kept; None where there is none."""
        if self.limit is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def line(self) -> str:
        """Return the figure's line of the table."""
        sign = "≥" if self.at_least else "≤"
        limit = "" if self.limit is None else f"{sign} {self.limit:g}"
        verdict = {None: "", True: "ok", False: "MISSED"}[self.holds]
        return f"{self.name:<44} {self.value:>10.2f} {self.unit:<9} {limit:<9} {verdict}"


def percentile(values: list[float], share: float) -> float:
    """Return the value under which `share` of them lie."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(len(ranked) * share))]
