"""Render the Markdown that people and agents type. What they type is never markup of ours."""

import re
from functools import cache

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

ALLOWED_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "li", "ol", "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip

REFERENCE = re.compile(
    r"\b(?:étape|step|task)\s+#(?P<task>\d{1,15})\b|(?<![\w/&#])#(?P<question>\d{1,15})\b",
    re.IGNORECASE,
)
"""What names a step ("étape #34") or a question ("#12") in a text."""


@cache
def _parser() -> MarkdownIt:
    # Raw HTML is shown as typed; a line break is a line break, as people expect in a message.
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.push("references", _link_references)
    return parser


def render(text: str) -> str:
    """Return safe HTML: a second pass drops whatever the first one should not have let through."""
    return nh3.clean(
        _parser().render(text),
        tags=ALLOWED_TAGS,
        attributes={"a": {"href", "title"}, "td": {"align"}, "th": {"align"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


def _link_references(state: StateCore) -> None:
    """Turn the steps and questions named in running text into links to them."""
    for block in state.tokens:
        if block.type == "inline" and block.children:
            block.children = _linked(block.children)


def _linked(tokens: list[Token]) -> list[Token]:
    linked: list[Token] = []
    depth = 0  # inside a link that was typed, a second one has no place
    for token in tokens:
        depth += {"link_open": 1, "link_close": -1}.get(token.type, 0)
        if token.type == "text" and not depth:
            linked += _split(token)
        else:
            linked.append(token)
    return linked


def _split(token: Token) -> list[Token]:
    parts: list[Token] = []
    end = 0
    for found in REFERENCE.finditer(token.content):
        kind = "task" if found["task"] else "question"
        opening = Token("link_open", "a", 1, attrs={"href": f"/#{kind}-{found[kind]}"})
        parts += [_text(token.content[end : found.start()]), opening]
        parts += [_text(found[0]), Token("link_close", "a", -1)]
        end = found.end()
    return [*parts, _text(token.content[end:])]


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)
