"""Text that people and agents send is checked once, the same on every database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordination.errors import Invalid
from coordination.text import checked_line, checked_text, fold


@pytest.mark.parametrize("bad", ["a\x00b", "\ud800"])
def test_what_no_database_keeps_is_refused(bad: str):
    with pytest.raises(Invalid) as refusal:
        checked_text("body", bad)
    assert refusal.value.field == "body"


def test_lengths_are_counted_in_characters():
    assert len(checked_line("subject", "é" * 200)) == 200
    with pytest.raises(Invalid, match="201"):
        checked_line("subject", "é" * 201)


@given(st.text())
def test_folding_is_stable(text: str):
    assert fold(fold(text)) == fold(text) == fold(text.casefold())


@given(st.text())
def test_a_line_has_no_line_break(text: str):
    try:
        line = checked_line("subject", text, maximum=10_000)
    except Invalid:
        return
    assert len(line.splitlines()) <= 1
