"""How a validation ended."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether the rule holds, what was seen (bounded), and why not in one sentence."""

    passed: bool
    evidence: str
    error: str = ""
