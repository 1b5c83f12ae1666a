"""Everything the domain can refuse, as one tree.

Each error carries the sentence a person or an agent reads, in the language active when it was
raised, and the HTTP status of its kind. The doors translate it once: `mcp_bridge/calls.py` and
`handoff_site/api.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _


class DomainError(Exception):
    """A request that was refused; nothing has changed."""

    http_status = 400
    code = "refused"

    def __init__(
        self, message: str, *, code: str = "", data: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.data = dict(data or {})


class Invalid(DomainError):
    """A value that cannot be accepted; `field` names where it stood."""

    http_status = 422
    code = "invalid"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message, data={"field": field})
        self.field = field


class MissingFields(DomainError):
    """Required values that are absent or blank. The message is the whole sentence."""

    http_status = 422
    code = "missing"

    def __init__(self, fields: Sequence[str]) -> None:
        super().__init__(
            _("Required fields: {fields}").format(fields=", ".join(fields)),
            data={"fields": list(fields)},
        )
        self.fields = list(fields)


class NotFound(DomainError):
    """The thing named does not exist."""

    http_status = 404
    code = "not_found"


class Forbidden(DomainError):
    """The actor may not do this."""

    http_status = 403
    code = "forbidden"


class Conflict(DomainError):
    """Against the rules in the state found: somebody else won, or the table has no such move."""

    http_status = 409
    code = "conflict"


class Stale(DomainError):
    """A save over somebody else's newer save; `data` holds the current state."""

    http_status = 412
    code = "stale"
