"""What REST's description says of refusals: each operation's, in one place, in one shape."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from ninja import Schema
from pydantic import ConfigDict, Field

JsonSchema = dict[str, Any]


class Refusal(Schema):
    """Why a request was refused: nothing has changed. Some kinds say more, such as the step now."""

    model_config = ConfigDict(extra="allow")

    code: str = Field(description="The kind, for programs.")
    message: str = Field(description="The sentence, for people, in the site's language.")


class InvalidValue(Refusal):
    """A value that cannot be accepted, or the names of all that are missing."""

    field: str = Field(default="", description="The value's name, when it is one.")
    fields: list[str] = Field(default=[], description="The missing values' names.")


ALWAYS = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN,
          HTTPStatus.SERVICE_UNAVAILABLE)  # fmt: skip
"""A host or an origin that is not the site's, nobody signed in, a database that is away."""

ADDING = {"plans_api_add_task", "plans_api_duplicate_plan"}
"""What adds beside a plan's steps is in no conflict with the state they are in."""


def describe_refusals(schema: JsonSchema) -> None:
    """Add what each operation may refuse to its answers."""
    schemas = schema["components"]["schemas"]
    for model in (Refusal, InvalidValue):
        schemas[model.__name__] = model.json_schema()
    for path in schema["paths"].values():
        for method, operation in path.items():
            for status in _refused(method, operation):
                operation["responses"].setdefault(int(status), _answer(status))


def _refused(method: str, operation: JsonSchema) -> Iterator[HTTPStatus]:
    """Yield the statuses with which an operation may refuse, by what it takes."""
    places = {parameter["in"] for parameter in operation["parameters"]}
    yield from ALWAYS
    if "path" in places:
        yield HTTPStatus.NOT_FOUND
        if method != "get" and operation["operationId"] not in ADDING:
            yield HTTPStatus.CONFLICT
    if "header" in places:
        yield HTTPStatus.PRECONDITION_FAILED
    if "requestBody" in operation:
        yield HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        yield HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    if "requestBody" in operation or places & {"path", "query"}:
        yield HTTPStatus.UNPROCESSABLE_ENTITY


def _answer(status: HTTPStatus) -> JsonSchema:
    model = InvalidValue if status == HTTPStatus.UNPROCESSABLE_ENTITY else Refusal
    reference = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {
        "description": status.phrase,
        "content": {"application/json": {"schema": reference}},
    }
