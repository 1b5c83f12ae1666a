"""The lines of a plan's Markdown: what stands for itself, and what a backslash keeps as text.

Outside of code fences three kinds of lines mean something: a heading `## …` begins a step, a fence
begins code, and a fence `validation` holds a step's rule. Instructions that have such a line as
text get a backslash before it, which Markdown shows as the text itself; so does a line of
backslashes alone, and a blank line that begins the instructions.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import count

HEADING = re.compile(r"##(?:[ \t](.*))?")
FENCE = re.compile(r" {0,3}(?P<marks>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)")
KEPT = re.compile(r"\\+(?:##(?:[ \t].*)?| {0,3}(?:`{3}|~{3}).*|\s*)")
"""What an escaped line looks like; each reading takes one backslash off."""
VALIDATION = "validation"


def fence_end(lines: Sequence[str], start: int) -> int | None:
    """Return the index of the line that closes the fence opened at `start`; None if none does."""
    opening = FENCE.fullmatch(lines[start])
    if opening is None:
        return None
    marks = opening["marks"]
    closing = re.compile(rf" {{0,3}}{re.escape(marks[0])}{{{len(marks)},}}\s*")
    return next((n for n in range(start + 1, len(lines)) if closing.fullmatch(lines[n])), None)


def info_of(line: str) -> str | None:
    """Return what a fence says of its content; None for a line that opens no fence."""
    opening = FENCE.fullmatch(line)
    return None if opening is None else opening["info"].strip()


def escaped(text: str) -> Iterator[str]:
    """Yield the lines of instructions as a file holds them."""
    lines = text.split("\n")
    filled = next((n for n, line in enumerate(lines) if line.strip()), 0)
    skip = 0
    for number, line in enumerate(lines):
        if number < skip:
            yield line
            continue
        info, end = info_of(line), fence_end(lines, number)
        if end is not None and info != VALIDATION:
            skip = end + 1  # code: nothing in it means anything
            yield line
        elif number < filled or info is not None or HEADING.fullmatch(line) or KEPT.fullmatch(line):
            yield f"\\{line}"
        else:
            yield line


def unescaped(line: str) -> str:
    """Return a line of instructions as it was before `escaped`."""
    return line[1:] if KEPT.fullmatch(line) else line


def fenced(info: str, content: str) -> Iterator[str]:
    """Yield a fence around `content`, long enough for whatever stands in it."""
    runs = (run for run in re.findall("`+", content))
    longest = max(map(len, runs), default=0)
    marks = "`" * next(length for length in count(3) if length > longest)
    yield f"{marks}{info}"
    yield from content.rstrip("\n").split("\n")
    yield marks
