"""REST's refusals of requests that reach no operation: the same JSON as any other refusal."""

import json
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

CODES = {
    400: "bad_request",
    403: "forbidden",
    405: "method_not_allowed",
    500: "internal",
    503: "unavailable",
}


class ApiRefusalsMiddleware:
    """Put into JSON what Django, or another middleware, refuses under /api/."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Leave alone what an operation answers: that is JSON."""
        response = self.get_response(request)
        kind = response.get("Content-Type", "")
        if (
            request.path.startswith("/api/")
            and response.status_code >= 400
            and not kind.startswith("application/json")
        ):
            refusal = {
                "code": CODES.get(response.status_code, "refused"),
                "message": _sentence(request, response),
            }
            response.content = json.dumps(refusal, ensure_ascii=False).encode()
            response["Content-Type"] = "application/json"
            response["Content-Length"] = str(len(response.content))
        return response


def _sentence(request: HttpRequest, response: HttpResponse) -> str:
    if response.status_code == 405:
        return _("{method} is not for this address; it takes {allowed}.").format(
            method=request.method, allowed=", ".join(sorted(response["Allow"].split(", ")))
        )
    if response["Content-Type"].startswith("text/plain"):
        return response.content.decode()
    return _("This request cannot be read: refused.")
