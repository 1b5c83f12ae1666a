"""Hand one message to one service, through apprise, within a bound of time.

Importing apprise and its plugins takes a second: only what checks an address or sends does it.
"""

import logging
import threading
from functools import cache
from types import ModuleType
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from coordination.errors import DomainError, Invalid
from notifications.models import ERROR_MAX
from notifications.sealing import redacted

TALKATIVE = ("apprise", "urllib3", "requests_oauthlib", "oauthlib")
"""Loggers that print addresses, or parts of them."""


class SendFailed(DomainError):
    """The service did not take the message; `message` says why, without the address."""

    http_status = 502
    code = "not_sent"


@cache
def load() -> ModuleType:
    """Return the library, its plugins read; what it logs stays with its results: addresses."""
    import apprise

    for name in TALKATIVE:
        logger = logging.getLogger(name)
        logger.setLevel(logging.WARNING)  # whatever HANDOFF_LOG_LEVEL is
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
    apprise.Apprise.instantiate("json://localhost")
    return apprise


def check(url: str) -> None:
    """Refuse an address that no service can be made of.

    Raises:
        Invalid: on the field `url`; the sentence does not repeat it.
    """
    if _service(url) is None:
        raise Invalid(
            "url",
            _("This is no address that apprise knows: write it as its documentation says for "
              "your service, e.g. ntfy://topic or mailto://user:password@example.org."),
        )  # fmt: skip


def send(url: str, *, title: str, body: str) -> None:
    """Send one message; return once the service took it.

    In a thread of its own, so that one that never answers holds up nobody for longer than the
    bound; it is then counted as failed, and its thread left behind.

    Raises:
        SendFailed: it was refused, or took too long.
    """
    service = _service(url)
    if service is None:
        raise SendFailed(_("This is no address that apprise knows any more; type it again."))
    result: list[str | None] = []
    thread = threading.Thread(
        target=lambda: result.append(_refusal(service, title, body)),
        name="notification",
        daemon=True,
    )
    thread.start()
    thread.join(seconds := settings.LEASE_SECONDS / 2)
    if not result:
        raise SendFailed(_("No answer within {seconds} s.").format(seconds=round(seconds, 1)))
    if (said := result[0]) is not None:
        reason = redacted(" ".join(said.split()), url)
        raise SendFailed(reason[:ERROR_MAX] or _("The service refused the message."))


def _refusal(service: Any, title: str, body: str) -> str | None:
    """Return what was said when the message was not taken; None when it was."""
    try:
        # Text, whatever the service: what agents wrote is never markup.
        text = load().NotifyFormat.TEXT
        result = service.notify(title=title, body=body, body_format=text)
    except Exception as error:  # a plugin's own fault
        return f"{type(error).__name__}: {error}"
    if result:
        return None
    tries = (attempt for one in result.results for attempt in one.attempts)
    return " ".join(line.message for attempt in tries for line in attempt)


def _service(url: str) -> Any:
    """Return what sends to `url`; None when there is no such thing."""
    asset = load().AppriseAsset(app_id="Handoff", app_desc="Handoff", async_mode=False)
    box = load().Apprise(asset=asset)
    try:
        return box if box.add(url) and len(box) == 1 else None
    except Exception:  # a plugin's own fault with an address it should refuse
        return None
