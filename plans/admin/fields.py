"""The shared step form in the admin's dress, and how a save over a newer one is noticed."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django import forms
from unfold.widgets import INPUT_CLASSES, TEXTAREA_CLASSES, UnfoldAdminSelectWidget

from coordination.errors import DomainError
from plans.forms import CHECKS, FIELDS_OF, TaskForm, initial_of
from plans.rules import TIMEOUT_DEFAULT
from plans.selectors.tasks import TaskDetail

_DEFAULTS = {"timeout": TIMEOUT_DEFAULT, "status": 200}
"""What a field left empty means."""


class StepFields(TaskForm):
    """A step's fields; `seen` is the essence of what the page showed when it was drawn."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        dress(self.fields)

    @property
    def touched(self) -> bool:
        """Tell whether the person changed anything since the page was drawn."""
        return not self.is_valid() or essence(self.cleaned_data) != self.cleaned_data["seen"]

    def renew(self, task: TaskDetail) -> None:
        """Let the next save replace what is stored now, which the page shows beside this form."""
        self.data = {
            **dict(self.data.items()),
            self.add_prefix("version"): str(task.version),
            self.add_prefix("seen"): essence(initial_for(task)),
        }


def dress(fields: Mapping[str, forms.Field]) -> None:
    """Give the shared form's fields the theme's looks."""
    for name, field in fields.items():
        if name == "check":
            field.widget = UnfoldAdminSelectWidget(choices=CHECKS)
        elif isinstance(field.widget, forms.Textarea):
            field.widget.attrs["class"] = " ".join(TEXTAREA_CLASSES)
        elif not field.widget.is_hidden:
            field.widget.attrs["class"] = " ".join(INPUT_CLASSES)


def initial_for(task: TaskDetail) -> dict[str, Any]:
    """Return the fields' values for a stored step."""
    initial = {
        "title": task.title,
        "instructions": task.instructions,
        "max_attempts": task.max_attempts,
        "version": task.version,
        **initial_of(task.validation_mode, task.validation_rule),
    }
    return initial | {"seen": essence(initial)}


def essence(values: Mapping[str, Any]) -> str:
    """Return a short sign of what a step says, the same however a browser sends it."""
    names = ("title", "instructions", "check", *FIELDS_OF.get(values["check"], ()), "max_attempts")
    said = [_plain(name, values.get(name)) for name in names]
    text = json.dumps(said, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def refusal_text(error: DomainError) -> str:
    """Return a refusal as a sentence of its own."""
    return error.message[:1].upper() + error.message[1:]


def _plain(name: str, value: Any) -> Any:
    if value is None:
        return _DEFAULTS.get(name)
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n")
    return text if name == "text" else text.strip()
