"""The one REST API: who may enter, what is understood, and every refusal translated once."""

import json
import logging
import re
from typing import Any, NoReturn

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.request import UnreadablePostError
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationErrorContext
from ninja.openapi.schema import OpenAPISchema
from ninja.parser import Parser
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf
from pydantic_core import ErrorDetails

from coordination.api import router as coordination_router
from coordination.errors import DomainError, Forbidden, Invalid, MissingFields, NotFound
from coordination.services import tokens
from handoff_site.openapi import describe_refusals
from handoff_site.refusals import database_busy
from plans.api import router as plans_router

log = logging.getLogger("handoff.api")


class NotSignedIn(DomainError):
    """Nobody is signed in, or the token is not, or no longer, good."""

    http_status = 401
    code = "not_signed_in"


class NotJson(DomainError):
    """A body that does not parse."""

    http_status = 400
    code = "not_json"


class NotUnderstood(DomainError):
    """A request that nothing honest sends, such as one with a thousand filters."""

    http_status = 400
    code = "bad_request"


class UnsupportedMedia(DomainError):
    """A body that does not say it is JSON: what other websites' forms can send."""

    http_status = 415
    code = "unsupported_media"


class TooLarge(DomainError):
    """A body past what the site reads."""

    http_status = 413
    code = "too_large"


class Unavailable(DomainError):
    """The database is locked or away."""

    http_status = 503
    code = "unavailable"


class Broken(DomainError):
    """A fault of ours; the log has it."""

    http_status = 500
    code = "internal"


class BearerToken(HttpBearer):
    """A token made in the admin."""

    openapi_scheme = "bearer"

    def authenticate(self, request: HttpRequest, token: str) -> User:
        """Return the person a live token acts for; a bad one is not tried as anything else."""
        user = tokens.authenticate(key=token)
        if not isinstance(user, User):
            raise NotSignedIn(
                _("This token is unknown, expired or revoked; make one in the administration.")
            )
        return user


class BrowserSession(APIKeyCookie):
    """A signed-in browser, which proves by its CSRF token that the page is ours."""

    param_name = settings.SESSION_COOKIE_NAME

    def __call__(self, request: HttpRequest) -> User | None:
        """Return the person; who is nobody is told so before any talk of CSRF."""
        if not isinstance(request.user, User):
            return None
        if check_csrf(request):
            raise Forbidden(
                _("The CSRF token is missing or wrong: reload the page, then try again."),
                code="csrf",
            )
        return request.user

    def authenticate(self, request: HttpRequest, key: str | None) -> User | None:
        """Do nothing more: `__call__` is the whole check."""
        return None


class JsonParser(Parser):
    """Read JSON that says it is JSON, in any depth and size that Python reads."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Return the body's value; `handle_http_error` finds the refusal as the cause."""
        if request.content_type != "application/json":
            raise UnsupportedMedia(_("Send JSON, with the header Content-Type: application/json."))
        return json.loads(request.body, parse_constant=_not_a_number)


def _not_a_number(name: str) -> NoReturn:
    raise ValueError(name)


class HandoffAPI(NinjaAPI):
    """Say what is wrong with a value in our own words, and describe every refusal."""

    def get_openapi_schema(self, **where: Any) -> OpenAPISchema:
        """Return the description, with what each operation may refuse."""
        schema = super().get_openapi_schema(**where)
        describe_refusals(schema)
        return schema

    def validation_error_from_error_contexts(  # type: ignore[override]
        self, error_contexts: list[ValidationErrorContext[Any]]
    ) -> DomainError:
        """Turn pydantic's findings into one refusal: absent fields first, all at once."""
        found = [
            (_field_of(context, error), error)
            for context in error_contexts
            for error in context.pydantic_validation_error.errors(include_url=False)
        ]
        missing = [field for field, error in found if _is_missing(error)]
        if missing:
            return MissingFields(list(dict.fromkeys(missing)))
        field, error = found[0]
        return Invalid(field, _sentence(field, error))


def _field_of(context: ValidationErrorContext[Any], error: ErrorDetails) -> str:
    """Return the name a client knows: without the parameter or the union's branch around it."""
    known = context.model.__ninja_flatten_map_reverse__.get(error["loc"], error["loc"])
    names = [str(part) for part in known if isinstance(part, str)]
    if context.model.__ninja_param_source__ == "body":
        names = names[1:2]
    return names[-1] if names else "body"


def _is_missing(error: ErrorDetails) -> bool:
    return error["type"] == "missing" or (
        error["input"] is None and error["type"] in {"string_type", "int_type"}
    )


def _sentence(field: str, error: ErrorDetails) -> str:
    kind, limits = error["type"], error.get("ctx", {})
    match kind:
        case "string_type":
            return _("{field}: text expected.").format(field=field)
        case "string_unicode":
            return _("{field}: not valid Unicode text.").format(field=field)
        case "nul":
            return _("{field}: a NUL character cannot be stored.").format(field=field)
        case "greater_than_equal":
            return _("{field}: {low} at least.").format(field=field, low=limits["ge"])
        case "less_than_equal":
            return _("{field}: {high} at most.").format(field=field, high=limits["le"])
        case "literal_error" | "enum":
            choices = ", ".join(re.findall(r"'([^']*)'", limits["expected"]))
            return _("{field}: one of {choices}.").format(field=field, choices=choices)
        case "extra_forbidden":
            return _("{field}: unknown field.").format(field=field)
        case "model_attributes_type" | "model_type" | "dict_type":
            return _("{field}: a JSON object expected.").format(field=field)
        case _ if kind.startswith("int"):
            return _("{field}: a whole number expected.").format(field=field)
    return _("{field}: this value is not understood.").format(field=field)


api = HandoffAPI(
    title="Handoff",
    version="1",
    urls_namespace="api",
    auth=[BearerToken(), BrowserSession()],
    parser=JsonParser(),
    docs_decorator=login_required,
)
api.add_router("", coordination_router)
api.add_router("", plans_router)


@api.exception_handler(DomainError)
def handle_refusal(request: HttpRequest, error: DomainError) -> HttpResponse:
    """Answer with the refusal's sentence, code and data."""
    content = {"code": error.code, "message": error.message, **error.data}
    return JsonResponse(
        content, status=error.http_status, json_dumps_params={"ensure_ascii": False}
    )


@api.exception_handler(AuthenticationError)
def handle_nobody(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    """Answer 401."""
    return handle_refusal(
        request, NotSignedIn(_("Sign in, or send a token: Authorization: Bearer …"))
    )


@api.exception_handler(HttpError)
def handle_http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Answer for a body that could not be read: the parser's refusal is the cause."""
    cause = error.__cause__
    if isinstance(cause, DomainError):
        return handle_refusal(request, cause)
    return handle_refusal(request, NotJson(_("The body is not valid JSON.")))


@api.exception_handler(Http404)
def handle_not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    """Answer 404."""
    return handle_refusal(request, NotFound(_("There is nothing at this address.")))


@api.exception_handler(RequestDataTooBig)
def handle_too_large(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    """Answer 413."""
    return handle_refusal(
        request,
        TooLarge(
            _("The body is too large: {maximum} bytes at most.").format(
                maximum=settings.DATA_UPLOAD_MAX_MEMORY_SIZE
            )
        ),
    )


@api.exception_handler(SuspiciousOperation)
def handle_suspicious(request: HttpRequest, error: SuspiciousOperation) -> HttpResponse:
    """Answer 400."""
    return handle_refusal(request, NotUnderstood(_("This request cannot be read: refused.")))


@api.exception_handler(UnreadablePostError)
def handle_cut_off(request: HttpRequest, error: UnreadablePostError) -> HttpResponse:
    """Answer a client that stopped sending, if it still listens."""
    return handle_refusal(request, NotJson(_("The body is not valid JSON.")))


@api.exception_handler(OperationalError)
@api.exception_handler(InterfaceError)
def handle_database_away(request: HttpRequest, error: Exception) -> HttpResponse:
    """Answer 503, to be tried again."""
    log.warning("%s %s: %s", request.method, request.path, error)
    response = handle_refusal(request, Unavailable(database_busy()))
    response["Retry-After"] = "2"
    return response


@api.exception_handler(Exception)
def handle_fault(request: HttpRequest, error: Exception) -> HttpResponse:
    """Answer 500 with a sentence; the log has the cause, on one line."""
    log.error("%s %s", request.method, request.path, exc_info=error)
    response = handle_refusal(
        request, Broken(_("Something went wrong on the server; its log says what."))
    )
    response._has_been_logged = True  # type: ignore[attr-defined]  # Django would say it again
    return response


@csrf_exempt
def unknown_address(request: HttpRequest) -> HttpResponse:
    """Answer 404 in JSON for what no route takes."""
    return handle_not_found(request, Http404())
