"""Refuse what other websites send: a page elsewhere must not reach a desk on this machine."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.utils.translation import gettext as _


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
