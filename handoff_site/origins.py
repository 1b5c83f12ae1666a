"""Refuse what other websites send: a page elsewhere must not reach a desk on this machine."""

from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.http.request import split_domain_port, validate_host
from django.utils.translation import gettext as _

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
ASGIApplication = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


def is_own_origin(origin: str, *, scheme: str, host: str) -> bool:
    """Tell this site's own origin, or one that the settings trust, from any other.

    A sandboxed or local page sends "null", which is nobody's origin.
    """
    return origin == f"{scheme}://{host}" or origin in settings.CSRF_TRUSTED_ORIGINS


class OriginMiddleware:
    """Answer 403 to any request that names a foreign Origin, whatever its method."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Let requests without an Origin through: they come from no web page."""
        origin = request.headers.get("Origin")
        scheme = request.scheme or "http"
        if origin is None or is_own_origin(origin, scheme=scheme, host=request.get_host()):
            return self.get_response(request)
        return HttpResponseForbidden(
            _("This request comes from another website ({origin}): refused.").format(
                origin=origin[:100]
            ),
            content_type="text/plain; charset=utf-8",
        )


class OwnOriginOnly:
    """Refuse (403) a WebSocket whose Host or Origin is not this site's, before any handler.

    Browsers let any page open a socket anywhere and send the cookies along: the Origin is all
    that tells them apart, so one that is missing is refused too.
    """

    def __init__(self, application: ASGIApplication) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Pass the connection on, or close it."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = headers.get(b"host", ""), headers.get(b"origin", "")
        scheme = "https" if scope.get("scheme") == "wss" else "http"
        domain, _port = split_domain_port(host)
        if validate_host(domain, settings.ALLOWED_HOSTS) and is_own_origin(
            origin, scheme=scheme, host=host
        ):
            await self.application(scope, receive, send)
            return
        await send({"type": "websocket.close", "code": 4403})
