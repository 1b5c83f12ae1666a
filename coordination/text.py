"""Text that people and agents send: checked once, compared the same way on every database."""

import unicodedata
from typing import Any

from django.db import models
from django.utils.translation import gettext as _

from coordination.errors import Invalid, MissingFields
from coordination.models import SUBJECT_MAX

BODY_MAX = 100_000
"""Characters in a body, instructions or a proof: more belongs in a file."""


def fold(text: str) -> str:
    """Return `text` as search compares it: no case, no accents, in every script.

    Databases disagree on both (SQLite folds ASCII only), so the folded form is stored.
    """
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(char for char in decomposed if not unicodedata.combining(char))
    return unicodedata.normalize("NFC", bare.casefold())


class FoldedField(models.CharField):
    """Another field's text as search compares it, made anew whenever a row is added or saved.

    A queryset's `update` passes it by: give it there.
    """

    def __init__(self, source: str, **options: Any) -> None:
        defaults: dict[str, Any] = {"editable": False, "blank": True, "default": ""}
        super().__init__(**defaults | options)
        self.source = source

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        """Give migrations what makes the field."""
        name, path, _arguments, options = super().deconstruct()
        return name, path, [self.source], options

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        """Fold the source."""
        folded = fold(getattr(model_instance, self.source))
        setattr(model_instance, self.attname, folded)
        return folded


def require(**values: object) -> None:
    """Refuse blank or absent values, all of them in one sentence."""
    missing = [
        name
        for name, value in values.items()
        if value is None or (isinstance(value, str) and not value.strip())
    ]
    if missing:
        raise MissingFields(missing)


def checked_text(field: str, value: str, *, maximum: int = BODY_MAX) -> str:
    """Return `value` trimmed at its end, or refuse what a database could not keep."""
    if "\x00" in value:
        raise Invalid(field, _("{field}: a NUL character cannot be stored.").format(field=field))
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise Invalid(field, _("{field}: not valid Unicode text.").format(field=field))
    if len(value) > maximum:
        raise Invalid(
            field,
            _("{field}: {length} characters, {maximum} at most.").format(
                field=field, length=len(value), maximum=maximum
            ),
        )
    return value.rstrip()


def checked_line(field: str, value: str, *, maximum: int = SUBJECT_MAX) -> str:
    """Return `value` as one line: line breaks and runs of blanks become single spaces."""
    return checked_text(field, " ".join(value.split()), maximum=maximum)
