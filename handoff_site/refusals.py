"""Pages for what goes wrong: a heading, a sentence that says what to do, a way back."""

import logging
from collections.abc import Callable

from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

log = logging.getLogger("handoff")


def _page(request: HttpRequest, status: int, heading: str, sentence: str) -> HttpResponse:
    context = {"heading": heading, "sentence": sentence}
    return render(request, "refusal.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer 400."""
    return _page(request, 400, _("Not understood"), _("This request cannot be read: refused."))


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer 403, in the refusal's own words where it has some."""
    words = str(exception) if isinstance(exception, PermissionDenied) else ""
    return _page(
        request,
        403,
        _("Not allowed"),
        words or _("Your account may not do this; ask an administrator."),
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer 403 to a form that did not come from a page of this browser's session.

    A button of the board shows the sentence alone.
    """
    sentence = _(
        "This form is too old or came from elsewhere: reload the page, then send it again."
    )
    if request.headers.get("HX-Request"):
        return HttpResponse(sentence, status=403)
    return _page(request, 403, _("Not allowed"), sentence)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer 404."""
    return _page(request, 404, _("Not found"), _("There is nothing at this address."))


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500; the log has the cause."""
    return HttpResponse(
        _("Something went wrong on the server; its log says what. Nothing was changed."),
        status=500,
        content_type="text/plain; charset=utf-8",
    )


def database_busy() -> str:
    """Return the sentence for a database that does not answer in time."""
    return _("The database is busy or away. Nothing was changed; try again in a moment.")


class DatabaseAwayMiddleware:
    """Answer 503 with a sentence when the database is locked or away."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Cover what the other middlewares read as well: sessions, accounts."""
        try:
            return self.get_response(request)
        except (OperationalError, InterfaceError) as error:
            return self._answer(request, error)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Take the view's exception before it becomes an internal error."""
        if isinstance(exception, OperationalError | InterfaceError):
            return self._answer(request, exception)
        return None

    def _answer(self, request: HttpRequest, error: Exception) -> HttpResponse:
        log.warning("%s %s: %s", request.method, request.path, error)
        response = HttpResponse(
            database_busy(), status=503, content_type="text/plain; charset=utf-8"
        )
        response["Retry-After"] = "2"
        return response
