"""What a remote agent is told before its message is read: a sentence, in a JSON-RPC error."""

import json
import math

from mcp_types import INTERNAL_ERROR, INVALID_REQUEST
from starlette.responses import Response

from coordination.errors import DomainError


class NotLetIn(DomainError):
    """No token, or one that is not, or no longer, good."""

    http_status = 401
    code = "not_let_in"


class TooLarge(DomainError):
    """A message past what is read."""

    http_status = 413
    code = "too_large"


class TooFast(DomainError):
    """More requests than a token may send; `seconds` until the next one is taken."""

    http_status = 429
    code = "too_fast"

    def __init__(self, message: str, *, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Away(DomainError):
    """The service is starting or stopping, or its database does not answer."""

    http_status = 503
    code = "away"


def response(refusal: DomainError) -> Response:
    """Return the HTTP answer; clients show the sentence of a JSON-RPC error."""
    code = INTERNAL_ERROR if refusal.http_status >= 500 else INVALID_REQUEST
    error = {"code": code, "message": refusal.message}
    return Response(
        json.dumps({"jsonrpc": "2.0", "id": None, "error": error}, ensure_ascii=False),
        status_code=refusal.http_status,
        headers=_headers(refusal),
        media_type="application/json",
    )


def _headers(refusal: DomainError) -> dict[str, str]:
    if isinstance(refusal, NotLetIn):
        return {"WWW-Authenticate": 'Bearer realm="handoff"' + refusal.data.get("fault", "")}
    if isinstance(refusal, TooFast):
        return {"Retry-After": str(max(1, math.ceil(refusal.seconds)))}
    if isinstance(refusal, Away):
        return {"Retry-After": "2"}
    return {}
