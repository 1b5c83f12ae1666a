"""What templates need beyond Django's own tags."""

import datetime as dt

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from handoff_site import markdown as markdown_text

register = template.Library()


@register.filter
def markdown(text: str) -> SafeString:
    """Render Markdown, sanitised."""
    return mark_safe(markdown_text.render(text))  # noqa: S308 - cleaned by nh3


@register.filter
def ago(moment: dt.datetime | None) -> SafeString | str:
    """Show a moment; the page puts it in words that age ("3 min ago")."""
    if moment is None:
        return ""
    local = timezone.localtime(moment)
    return format_html(
        '<time data-ago datetime="{}" title="{}">{}</time>',
        local.isoformat(timespec="seconds"),
        local.strftime("%Y-%m-%d %H:%M:%S"),
        local.strftime("%Y-%m-%d %H:%M"),
    )
