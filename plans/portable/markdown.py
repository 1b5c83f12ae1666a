"""A plan as Markdown: YAML front matter, a heading a step, its rule in a fence `validation`.

What is written is read back the same, to the character.
"""

from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from plans.models import ValidationMode
from plans.portable import yaml_blocks
from plans.portable.document import Document, Fault, Step
from plans.portable.lines import (
    HEADING,
    VALIDATION,
    escaped,
    fence_end,
    fenced,
    info_of,
    unescaped,
)

FRONT = "---"
FRONT_NAMES = ("title", "project")
RULE_NAMES = ("mode", "rule", "max_attempts")


def write(document: Document) -> str:
    """Return a plan as the text of a file."""
    front = yaml_blocks.written({"title": document.title, "project": document.project})
    lines = [FRONT, *front.rstrip("\n").split("\n"), FRONT, ""]
    for step in document.steps:
        lines += [f"## {step.title}", "", *escaped(step.instructions), ""]
        if rule := _rule(step):
            lines += [*fenced(VALIDATION, yaml_blocks.written(rule)), ""]
    return "\n".join(lines)


def _rule(step: Step) -> dict[str, Any]:
    """Return what a step's fence holds; nothing when it would say only what goes without saying."""
    rule: dict[str, Any] = {"mode": str(step.validation_mode)}
    if step.validation_rule is not None:
        rule["rule"] = step.validation_rule
    if step.max_attempts != 1:
        rule["max_attempts"] = step.max_attempts
    return {} if rule == {"mode": ValidationMode.MANUAL.value} else rule


def read(text: str) -> Document:
    """Return the plan that a text holds, with every fault that was found on the way."""
    text = text.removeprefix("\ufeff")
    if text.startswith(f"{FRONT}\r\n"):  # an editor of another system: every line ends so
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    document = Document()
    start = _front_matter(lines, document)
    if start is not None:
        _Body(lines, document).read(start)
    return document


def _front_matter(lines: list[str], document: Document) -> int | None:
    """Read title and project; return where the steps begin."""
    end = next((n for n in range(1, len(lines)) if lines[n].rstrip() == FRONT), None)
    if lines[0].rstrip() != FRONT or end is None:
        message = _("begin with a line ---, then title: …, then a line ---.")
        document.faults.append(Fault(1, message))
        return None
    found = yaml_blocks.read(lines[1:end], 2, FRONT_NAMES)
    if isinstance(found, Fault):
        document.faults.append(found)
        return end + 1
    for name in FRONT_NAMES:
        value = found.get(name) or ""
        if not isinstance(value, str):
            message = _("{name} must be text; put it in quotes.").format(name=name)
            document.faults.append(Fault(2, message))
        else:
            setattr(document, name, value)
    if not document.title and not document.faults:
        document.faults.append(Fault(2, _("the title is missing: title: …")))
    return end + 1


@dataclass(slots=True)
class _Draft:
    """A step while its lines are read."""

    step: Step
    lines: list[str] = field(default_factory=list)
    ended: bool = False  # its rule was read: nothing may follow


class _Body:
    """Reads the steps, line by line."""

    def __init__(self, lines: list[str], document: Document) -> None:
        self._lines = lines
        self._document = document
        self._draft: _Draft | None = None
        self._lost = False

    def read(self, start: int) -> None:
        """Read every step from the line `start` on."""
        index: int | None = start
        while index is not None and index < len(self._lines):
            index = self._take(index)
        self._finish()

    def _take(self, index: int) -> int | None:
        """Read what begins at a line; return where the next thing begins, None at the end."""
        line = self._lines[index]
        if heading := HEADING.fullmatch(line):
            self._finish()
            self._draft = _Draft(Step((heading[1] or "").strip(), "", line=index + 1))
            return index + 1
        info = info_of(line)
        if info is None:
            self._text(index)
            return index + 1
        end = fence_end(self._lines, index)
        if end is None:
            self._fault(index, _("this fence is never closed."))
            return None
        if info == VALIDATION:
            self._validation(index, end)
        elif draft := self._open_draft(index):
            draft.lines += self._lines[index : end + 1]
        return end + 1

    def _text(self, index: int) -> None:
        line = self._lines[index]
        if not line.strip():
            if self._draft and self._draft.lines:
                self._draft.lines.append(line)
        elif draft := self._open_draft(index):
            draft.lines.append(unescaped(line))

    def _open_draft(self, index: int) -> _Draft | None:
        """Return the step that a line belongs to; say so when there is none."""
        if self._draft is None:
            if not self._lost:  # once is enough
                self._fault(index, _("this stands before the first step, which begins with ## ."))
            self._lost = True
        elif self._draft.ended:
            self._fault(index, _("nothing may follow a step's validation."))
        else:
            return self._draft
        return None

    def _validation(self, index: int, end: int) -> None:
        """Read a step's rule."""
        draft = self._open_draft(index)
        if draft is None:
            return
        draft.ended = True
        found = yaml_blocks.read(self._lines[index + 1 : end], index + 2, RULE_NAMES)
        if isinstance(found, Fault):
            self._document.faults.append(found)
            return
        step = draft.step
        step.validation_mode = found.get("mode", step.validation_mode)
        step.validation_rule = found.get("rule")
        step.max_attempts = found.get("max_attempts", 1)
        if not isinstance(step.max_attempts, int):
            message = _("{name} must be a whole number.").format(name="max_attempts")
            self._fault(index, message)
            step.max_attempts = 1

    def _finish(self) -> None:
        """Keep the step that was being read."""
        if self._draft is not None:
            self._draft.step.instructions = "\n".join(self._draft.lines).rstrip()
            self._document.steps.append(self._draft.step)
            self._draft = None

    def _fault(self, index: int, message: str) -> None:
        self._document.faults.append(Fault(index + 1, message))
