"""What a plan says, apart from how far it is: the same in a file and in the database."""

from dataclasses import dataclass, field
from typing import Any

from plans.models import ValidationMode


@dataclass(slots=True)
class Step:
    """One step as a person wrote it; `line` is where, for those who must mend it."""

    title: str
    instructions: str
    validation_mode: Any = ValidationMode.MANUAL.value
    validation_rule: Any = None
    max_attempts: Any = 1
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a text, and on which line, counted from 1."""

    line: int
    message: str


@dataclass(slots=True)
class Document:
    """A plan: its title, whose it is, its steps; and what could not be read of it."""

    title: str = ""
    project: str = ""
    steps: list[Step] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list, compare=False)
