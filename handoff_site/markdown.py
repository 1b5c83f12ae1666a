"""Render the Markdown that people and agents type. What they type is never markup of ours."""

from functools import cache

import nh3
from markdown_it import MarkdownIt

ALLOWED_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "li", "ol", "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip


@cache
def _parser() -> MarkdownIt:
    # Raw HTML is shown as typed; a line break is a line break, as people expect in a message.
    return MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(
        ["table", "strikethrough"]
    )


def render(text: str) -> str:
    """Return safe HTML: a second pass drops whatever the first one should not have let through."""
    return nh3.clean(
        _parser().render(text),
        tags=ALLOWED_TAGS,
        attributes={"a": {"href", "title"}, "td": {"align"}, "th": {"align"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
