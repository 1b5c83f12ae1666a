"""A log entry is one line, whatever it holds."""

import logging
import sys

from handoff_site.logs import OneLineFormatter


def formatted(message: str, *, failing: bool = False) -> str:
    error = None
    if failing:
        try:
            raise ValueError("first\nsecond")
        except ValueError:
            error = sys.exc_info()
    record = logging.LogRecord("n", logging.ERROR, "p", 1, message, None, error, sinfo="stack\nx")
    return OneLineFormatter("%(name)s: %(message)s").format(record)


def test_a_message_of_several_lines_is_one():
    assert formatted("a\r\nb") == "n: a  b "


def test_an_exception_is_named_with_its_place():
    line = formatted("a", failing=True)
    assert "\n" not in line
    assert line.startswith("n: a ValueError: first second (")
    assert "test_logs.py:" in line
