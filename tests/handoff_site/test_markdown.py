"""What is typed becomes safe HTML, and what it names becomes a link."""

import pytest

from handoff_site.markdown import render


@pytest.mark.parametrize(
    ("typed", "href"),
    [
        ("See #12.", "/#question-12"),
        ("après l'étape #34, oui", "/#task-34"),
        ("After step #34", "/#task-34"),
        ("(#7)", "/#question-7"),
    ],
)
def test_a_named_step_or_question_becomes_a_link(typed: str, href: str) -> None:
    assert f'<a href="{href}"' in render(typed)


@pytest.mark.parametrize("typed", ["a#12", "`#12`", "/x#12", "&#12;", "##12", "# Heading", "#abc"])
def test_what_only_looks_like_a_number_stays_text(typed: str) -> None:
    assert "<a" not in render(typed)


def test_a_link_that_was_typed_is_not_cut_in_two() -> None:
    assert render("[issue #12](https://example.org/)").count("<a") == 1


@pytest.mark.parametrize(
    "typed",
    [
        "<script>x</script>",
        "<img src=x onerror=x>",
        "[x](javascript:alert(1))",
        "![x](data:text/html,x)",
        '<a href="x" onclick="y">z</a>',
    ],
)
def test_nothing_typed_is_markup(typed: str) -> None:
    html = render(typed)
    assert "<script" not in html
    assert "<img" not in html
    assert "<a" not in html
