"""What decides that a step is done, checked in one place: when it is saved and when it is run."""

from collections.abc import Sequence
from posixpath import normpath
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from django.utils.translation import gettext as _
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from coordination.errors import Invalid
from plans.models import ValidationMode

TIMEOUT_DEFAULT = 120
"""Seconds that a command gets unless its rule says otherwise."""
TIMEOUT_MAX = 600
FIELD = "validation_rule"


def _refuse(message: str) -> PydanticCustomError:
    """Return an error whose message is a sentence of ours."""
    return PydanticCustomError("handoff", "{sentence}", {"sentence": message})


def _storable(value: str) -> str:
    if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise _refuse(_("holds characters that cannot be stored."))
    return value


def _filled(value: str) -> str:
    if not value.strip():
        raise _refuse(_("must not be blank."))
    return _storable(value)


def _command(value: str) -> str:
    lines = [line.strip() for line in _filled(value).splitlines()]
    if not any(line and not line.startswith("#") for line in lines):
        raise _refuse(_("holds only comments: it would check nothing."))
    return value


def _inner_path(value: str) -> str:
    path = normpath(_filled(value))
    if path.startswith("/"):
        raise _refuse(_("must be relative to the project's folder."))
    if path == ".." or path.startswith("../"):
        raise _refuse(_("must not leave the project's folder."))
    if path == ".":
        raise _refuse(_("is the project's folder itself: it would check nothing."))
    return value


def _web_address(value: str) -> str:
    try:
        parts = urlsplit(_filled(value))
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(char.isspace() or not char.isprintable() for char in value):
        raise _refuse(_("must be an address like http://host/path or https://host/path."))
    return value


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ShellRule(_Rule):
    """A command that must end with status 0 within `timeout` seconds."""

    cmd: Annotated[StrictStr, Field(max_length=10_000), AfterValidator(_command)]
    timeout: StrictInt = Field(TIMEOUT_DEFAULT, ge=1, le=TIMEOUT_MAX)


class FileExists(_Rule):
    """A file or folder that must be there."""

    rule: Literal["file_exists"]
    path: Annotated[StrictStr, Field(max_length=1000), AfterValidator(_inner_path)]


class FileContains(_Rule):
    """A file that must hold `text`, taken literally."""

    rule: Literal["file_contains"]
    path: Annotated[StrictStr, Field(max_length=1000), AfterValidator(_inner_path)]
    text: Annotated[StrictStr, Field(max_length=10_000), AfterValidator(_filled)]


class HttpGetStatus(_Rule):
    """An address that must answer a GET with `status`, no redirect followed."""

    rule: Literal["http_get_status"]
    url: Annotated[StrictStr, Field(max_length=2000), AfterValidator(_web_address)]
    status: StrictInt = Field(200, ge=100, le=599)


ArtifactRule = Annotated[FileExists | FileContains | HttpGetStatus, Field(discriminator="rule")]
ArtifactRules = Annotated[list[ArtifactRule], Field(min_length=1, max_length=50)]

_SHELL: TypeAdapter[ShellRule] = TypeAdapter(ShellRule)
_ARTIFACT: TypeAdapter[FileExists | FileContains | HttpGetStatus] = TypeAdapter(ArtifactRule)
_ARTIFACTS: TypeAdapter[list[FileExists | FileContains | HttpGetStatus]] = TypeAdapter(
    ArtifactRules
)


def parse_rule(
    mode: str, rule: object
) -> ShellRule | list[FileExists | FileContains | HttpGetStatus] | None:
    """Return the rule of a step in `mode`: None, a command, or the checks that must all hold.

    Raises:
        Invalid: the rule does not fit, or would check nothing; its field is the path to the fault.
    """
    if mode == ValidationMode.MANUAL:
        if rule not in (None, {}):
            raise Invalid(FIELD, _("{field}: a human validates; no rule goes with it.").format(
                field=FIELD
            ))  # fmt: skip
        return None
    if mode not in ValidationMode.values:
        raise Invalid(
            "validation_mode",
            _("{field}: choose one of {choices}.").format(
                field="validation_mode", choices=", ".join(ValidationMode.values)
            ),
        )
    if rule is None:
        raise Invalid(FIELD, _("{field}: required with mode {mode}.").format(
            field=FIELD, mode=mode
        ))  # fmt: skip
    try:
        if mode == ValidationMode.SHELL:
            return _SHELL.validate_python(rule)
        if isinstance(rule, list):
            return _ARTIFACTS.validate_python(rule)
        return [_ARTIFACT.validate_python(rule)]
    except ValidationError as error:
        raise first_fault(error, FIELD) from None


def rule_schema() -> dict[str, Any]:
    """Return the JSON Schema of every shape that a stored rule can have, whole in itself."""
    schema = TypeAdapter(ShellRule | ArtifactRule | ArtifactRules | None).json_schema()
    shapes = schema.pop("$defs")

    def inlined(node: Any) -> Any:
        if isinstance(node, list):
            return [inlined(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return shapes[node["$ref"].rpartition("/")[2]]
        return {key: inlined(value) for key, value in node.items() if key != "discriminator"}

    found: dict[str, Any] = inlined(schema)
    return found


def stored_rule(mode: str, rule: object) -> Any:
    """Check `rule` and return it as it is stored: with its defaults, and as a list if it was one.

    Raises:
        Invalid: as `parse_rule`.
    """
    parsed = parse_rule(mode, rule)
    if parsed is None:
        return None
    if isinstance(parsed, ShellRule):
        return parsed.model_dump()
    dumped = [one.model_dump() for one in parsed]
    return dumped if isinstance(rule, list) else dumped[0]


def first_fault(error: ValidationError, prefix: str = "") -> Invalid:
    """Turn the first of pydantic's errors into a sentence of ours that names the field."""
    detail = error.errors(include_url=False, include_context=True)[0]
    field = _path(prefix, detail["loc"])
    return Invalid(field, f"{field}: {_sentence(detail)}")


def _path(prefix: str, location: Sequence[int | str]) -> str:
    # A union's branch stands in the location under its tag, which the writer never typed there.
    tags = {"file_exists", "file_contains", "http_get_status"}
    parts = [str(part) for part in location if part not in tags]
    return ".".join([prefix, *parts] if prefix else parts)


def _sentence(detail: ErrorDetails) -> str:
    """Say what is wrong with one value, in the reader's language."""
    context = detail.get("ctx", {})
    if detail["type"] == "handoff":
        return str(context["sentence"])
    bounds = {name: context[key] for name, key in _BOUNDS.items() if key in context}
    return {
        "missing": _("required."),
        "extra_forbidden": _("unknown key; remove it."),
        "string_type": _("must be text."),
        "int_type": _("must be a whole number."),
        "int_from_float": _("must be a whole number."),
        "greater_than_equal": _("must be at least {low}."),
        "less_than_equal": _("must be at most {high}."),
        "string_too_long": _("too long: at most {longest} characters."),
        "too_short": _("must hold at least one check."),
        "too_long": _("must hold at most {longest} checks."),
        "union_tag_invalid": _("rule must be file_exists, file_contains or http_get_status."),
        "union_tag_not_found": _("rule must be file_exists, file_contains or http_get_status."),
    }.get(detail["type"], _("must be an object with the keys of its mode.")).format(**bounds)


_BOUNDS = {"low": "ge", "high": "le", "longest": "max_length"}
