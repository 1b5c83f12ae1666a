"""A plan written as Markdown is read back the same, to the character."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from plans.portable import lists, markdown
from plans.portable.document import Document, Step
from plans.portable.lines import escaped, unescaped

# What a database keeps: no NUL, no half of a surrogate pair; long texts are made of telling bits.
CHARS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
BITS = st.sampled_from(
    ["## ", "##", "\\", "```", "~~~", "````", "validation", "\n", "\n\n", " ", "   ", "\t", "---",
     "# x", "- y", "\r", "\r\n", "\x85", "\u2028", "```validation\n", "mode: shell", "|", ">", "'",
     '"', "\ufeff", "é", "🦉", "\x1c", "\x07", "...", "!!", "&a", "*a", "%", "@", "`"]
)  # fmt: skip
TEXT = st.lists(BITS | st.text(CHARS, max_size=8), max_size=14).map("".join)
FILLED = TEXT.map(str.rstrip).filter(str.strip)
LINE = TEXT.map(lambda text: " ".join(text.split())).filter(bool)
WORDS = st.fixed_dictionaries({"cmd": FILLED, "timeout": st.integers(1, 600)})
CHECK = st.one_of(
    st.fixed_dictionaries({"rule": st.just("file_exists"), "path": FILLED}),
    st.fixed_dictionaries({"rule": st.just("file_contains"), "path": FILLED, "text": TEXT}),
    st.fixed_dictionaries(
        {"rule": st.just("http_get_status"), "url": LINE, "status": st.integers(100, 599)}
    ),
)
RULE = st.one_of(
    st.tuples(st.just("manual"), st.none()),
    st.tuples(st.just("shell"), WORDS),
    st.tuples(st.just("artifact"), CHECK | st.lists(CHECK, min_size=1, max_size=3)),
)
STEP = st.builds(
    lambda title, text, rule, attempts: Step(title, text, *rule, attempts),
    LINE, FILLED, RULE, st.integers(1, 100),
)  # fmt: skip
DOCUMENT = st.builds(Document, LINE, st.just("panel"), st.lists(STEP, max_size=4))


@settings(max_examples=200, deadline=None)
@given(DOCUMENT)
@example(Document("---", "panel", [Step("## a", "## b\n\\## c\n```\n## d\n```\n```open")]))
@example(Document("'", "panel", [Step("x", "```validation\nmode: shell\n```")]))
@example(Document("x", "panel", [Step("x", "\n\n  \n\\\nstart"), Step("y", "~~~\n```\n~~~")]))
@example(
    Document("x", "panel", [Step("x", "y", "shell", {"cmd": "a\n````\n\n b \nc", "timeout": 1})])
)
def test_any_plan_comes_back_as_it_was(document):
    read = markdown.read(markdown.write(document))
    assert read.faults == []
    assert read == document


@settings(max_examples=80, deadline=None)
@given(TEXT)
def test_whatever_is_read_is_a_plan_or_has_faults(text):
    for start in ("", "---\ntitle: x\n---\n", "---\ntitle: x\n---\n## a\n"):
        document = markdown.read(start + text)
        assert document.faults or document.title
        assert markdown.read(markdown.write(document)).steps is not None


@settings(max_examples=80, deadline=None)
@given(TEXT)
def test_escaping_is_undone_line_by_line_outside_of_code(text):
    if "```" not in text and "~~~" not in text:
        assert "\n".join(map(unescaped, escaped(text))) == text


def test_a_file_reads_as_markdown():
    steps = [
        Step("Préparer", "Lis le plan.\n\n```\n## un commentaire\n```"),
        Step("Tester", "Lance tout.", "shell", {"cmd": "make test\nmake lint", "timeout": 300}, 3),
    ]
    assert markdown.write(Document("Mise en production", "panel", steps)) == (
        "---\ntitle: Mise en production\nproject: panel\n---\n\n"
        "## Préparer\n\nLis le plan.\n\n```\n## un commentaire\n```\n\n"
        "## Tester\n\nLance tout.\n\n```validation\nmode: shell\nrule:\n  cmd: |-\n"
        "    make test\n    make lint\n  timeout: 300\nmax_attempts: 3\n```\n"
    )


def test_what_a_person_types_need_not_be_tidy():
    text = (
        "\ufeff---\r\ntitle: À la main\r\n---\r\n## Un   \r\nFais ceci.\r\n\r\n\r\n"
        "## Deux\r\n\r\n\r\n  - et cela\r\n```validation\r\nmode: artifact\r\nrule:\r\n"
        "  - {rule: file_exists, path: a.txt}\r\n```\r\n"
    )
    document = markdown.read(text)
    assert document.faults == []
    assert document.title == "À la main"
    assert [(step.title, step.instructions) for step in document.steps] == [
        ("Un", "Fais ceci."),
        ("Deux", "  - et cela"),
    ]
    assert document.steps[1].validation_rule == [{"rule": "file_exists", "path": "a.txt"}]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [1]),
        ("## Un\n", [1]),
        ("---\ntitle: x\n", [1]),
        ("---\ntitle: [\n---\n", [2]),
        ("---\ntitle: a: b\n---\n", [2]),
        ("---\ntitle: 3\n---\n", [2]),
        ("---\nproject: panel\n---\n", [2]),
        ("---\ntitle: x\nétat: y\n---\n", [3]),
        ("---\n- x\n---\n", [2]),
        ("---\ntitle: x\n---\n\ntexte\nencore\n## Un\na\n", [5]),
        ("---\ntitle: x\n---\n## Un\na\n```\nouvert\n", [6]),
        ("---\ntitle: x\n---\n## Un\na\n```validation\nmode: [\n```\n", [7]),
        ("---\ntitle: x\n---\n## Un\na\n```validation\nmode: shell\ncmd: ls\n```\n", [8]),
        ("---\ntitle: x\n---\n## Un\na\n```validation\nmax_attempts: deux\n```\n", [6]),
        ("---\ntitle: x\n---\n## Un\na\n```validation\nmode: manual\n```\nsuite\n", [9]),
        ("---\ntitle: &a [*a]\n---\n", [2]),
        ("---\ntitle: !!python/object:os.system x\n---\n", [2]),
        ("---\ntitle: " + "[" * 5000 + "\n---\n", [2]),
        ("---\ntitle: 2026-99-99\n---\n", [2]),
        ("---\ntitle: a\x07b\n---\n", [2]),
    ],
)
def test_each_fault_is_told_with_its_line(text, lines):
    assert [fault.line for fault in markdown.read(text).faults] == lines


def test_a_pasted_list_becomes_steps():
    document = lists.read(
        "\n- [ ] Préparer\n- [x] **Tester**\n  - d'abord ceci\n\n  puis cela\n1. Livrer\n"
    )
    assert document.faults == []
    assert [(step.title, step.instructions) for step in document.steps] == [
        ("Préparer", "Préparer"),
        ("**Tester**", "- d'abord ceci\n\npuis cela"),
        ("Livrer", "Livrer"),
    ]


def test_bare_lines_become_steps_too():
    document = lists.read("  Préparer\r\n\r\nTester\r\n")
    assert [step.title for step in document.steps] == ["Préparer", "Tester"]


def test_a_title_that_is_too_long_is_kept_whole_in_the_instructions():
    (step,) = lists.read("- " + "mot " * 100 + "\n  la suite").steps
    assert len(step.title) <= 200
    assert step.title.endswith("…")
    assert step.instructions == "mot " * 99 + "mot\n\nla suite"


def test_text_before_a_list_and_too_long_a_list_are_faults():
    assert [fault.line for fault in lists.read("À faire:\n- un\n").faults] == [1]
    assert [fault.line for fault in lists.read("- x\n" * 501).faults] == [501]
