"""A pasted Markdown list as steps: one item, one step."""

import re
import textwrap

from django.utils.translation import gettext as _

from plans.models import TITLE_MAX
from plans.portable.document import Document, Fault, Step

ITEM = re.compile(r"(?P<indent>\s*)(?:[-*+•]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(?P<text>\S.*)")
STEPS_MAX = 500


def read(text: str) -> Document:
    """Return the steps of a list, or of bare lines, with the line of each and every fault.

    What is indented under an item becomes its instructions; an item alone is its own.
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    document = Document()
    items = [match for match in map(ITEM.fullmatch, lines) if match]
    level = min((len(match["indent"]) for match in items), default=None)
    below: list[str] = []
    for number, line in enumerate(lines, 1):
        item = ITEM.fullmatch(line)
        if level is None or (item and len(item["indent"]) == level):
            _finish(document, below)
            below = []
            title = (item["text"] if item else line).strip()
            if title:
                document.steps.append(Step(title, title, line=number))
        elif document.steps:
            below.append(line)
        elif line.strip():
            message = _("this stands before the first item, which begins with - or 1.")
            document.faults.append(Fault(number, message))
    _finish(document, below)
    if len(document.steps) > STEPS_MAX:
        message = _("{maximum} steps at most.").format(maximum=STEPS_MAX)
        document.faults.append(Fault(document.steps[STEPS_MAX].line, message))
    return document


def _finish(document: Document, below: list[str]) -> None:
    """Give the last step what stood below it; a title that is too long is kept whole there."""
    if not document.steps:
        return
    step = document.steps[-1]
    text = textwrap.dedent("\n".join(below)).strip("\n").rstrip()
    cut = len(step.title) > TITLE_MAX
    parts = [step.title if cut or not text else "", text]
    step.instructions = "\n\n".join(part for part in parts if part)
    if cut:
        step.title = f"{step.title[: TITLE_MAX - 1].rstrip()}…"
