"""Keep a target's address secret: sealed at rest, masked on pages, cut out of what is reported."""

import base64
import hashlib
import re
from urllib.parse import unquote

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.utils.translation import gettext as _

from coordination.errors import DomainError

_HIDDEN = "•••"
_PART_MIN = 3
"""Characters of a part of an address that is cut out of errors: shorter ones are in any text."""


class Unreadable(DomainError):
    """An address sealed with another secret key than the site's present one."""

    code = "unreadable"

    def __init__(self) -> None:
        super().__init__(
            _("The address cannot be read: the site's secret key has changed since it was saved. "
              "Type the address again, or bring the former key back.")
        )  # fmt: skip


def seal(url: str) -> str:
    """Return `url` encrypted with a key derived from the site's secret."""
    return _box().encrypt(url.encode()).decode()


def unseal(sealed: str) -> str:
    """Return the address that `seal` was given.

    Raises:
        Unreadable: the site's secret is another one.
    """
    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise Unreadable from None


def masked(url: str) -> str:
    """Return only the kind of service: in some addresses every other part is a password."""
    return f"{url.partition('://')[0]}://{_HIDDEN}"


def redacted(text: str, url: str) -> str:
    """Return `text` without any part of `url` but its kind of service."""
    rest = url.partition("://")[2]
    parts = {part for said in (rest, unquote(rest)) for part in re.split(r"[/:@?&=#,;\s]+", said)}
    for part in sorted((rest, *parts), key=len, reverse=True):
        if len(part) >= _PART_MIN:
            text = re.sub(re.escape(part), _HIDDEN, text, flags=re.IGNORECASE)
    return text


def _box() -> Fernet:
    digest = hashlib.sha256(b"handoff.notifications:" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
