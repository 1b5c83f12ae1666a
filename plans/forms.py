"""The step form that the admin and the board share: a rule is chosen and filled in, not typed."""

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from coordination.errors import DomainError, Invalid, MissingFields
from plans.models import MAX_ATTEMPTS, TITLE_MAX, ValidationMode
from plans.rules import TIMEOUT_DEFAULT, TIMEOUT_MAX

SEVERAL = "several"
CHECKS = [
    ("manual", _("A human looks")),
    ("shell", _("A command ends well")),
    ("file_exists", _("A file exists")),
    ("file_contains", _("A file contains a text")),
    ("http_get_status", _("An address answers")),
    (SEVERAL, _("Several checks (JSON)")),
]
"""What can decide that a step is done, as people choose it; the rule's mode follows from it."""

FIELDS_OF = {
    "shell": ("cmd", "timeout"),
    "file_exists": ("path",),
    "file_contains": ("path", "text"),
    "http_get_status": ("url", "status"),
    SEVERAL: ("rules",),
}

TEXT_FIELDS = ("title", "instructions", "max_attempts")


class ChecksField(forms.JSONField):
    """A list of checks as JSON; no list yet is an empty box."""

    def prepare_value(self, value: Any) -> Any:
        """Return what the box shows."""
        return "" if value is None else super().prepare_value(value)


class PlanForm(forms.Form):
    """A plan's title. `version` is the one the person saw."""

    title = forms.CharField(label=_("Title"), max_length=TITLE_MAX)
    version = forms.IntegerField(widget=forms.HiddenInput, required=False)


class StepListForm(forms.Form):
    """A pasted list: each item becomes a step, what is indented below it its instructions."""

    text = forms.CharField(
        label=_("List (Markdown)"),
        widget=forms.Textarea({"rows": 12}),
        help_text=_("One item a step; indented lines below an item are its instructions."),
    )


class TaskForm(forms.Form):
    """A step's text and rule; `validated` gives what the services take."""

    title = forms.CharField(label=_("Title"), max_length=TITLE_MAX)
    instructions = forms.CharField(
        label=_("Instructions (Markdown)"), widget=forms.Textarea({"rows": 6})
    )
    check = forms.ChoiceField(label=_("Done when"), choices=CHECKS, initial="manual")
    cmd = forms.CharField(
        label=_("Command"),
        required=False,
        widget=forms.Textarea({"rows": 2, "spellcheck": "false"}),
        help_text=_("Run by bash in the project's folder; exit status 0 passes."),
    )
    timeout = forms.IntegerField(
        label=_("Time limit (seconds)"),
        required=False,
        min_value=1,
        max_value=TIMEOUT_MAX,
        initial=TIMEOUT_DEFAULT,
    )
    path = forms.CharField(
        label=_("Path"), required=False, help_text=_("Relative to the project's folder.")
    )
    text = forms.CharField(
        label=_("Text it contains"),
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 2, "spellcheck": "false"}),
    )
    url = forms.CharField(label=_("Address"), required=False)
    status = forms.IntegerField(
        label=_("Expected HTTP status"), required=False, min_value=100, max_value=599, initial=200
    )
    rules = ChecksField(
        label=_("Checks"),
        required=False,
        widget=forms.Textarea({"rows": 6, "spellcheck": "false"}),
        help_text=_('All must hold: [{"rule": "file_exists", "path": "…"}, …]'),
    )
    max_attempts = forms.IntegerField(
        label=_("Attempts allowed"), min_value=1, max_value=MAX_ATTEMPTS, initial=1
    )
    version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    after = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            checks = " ".join(check for check, names in FIELDS_OF.items() if name in names)
            field.applies_to = checks  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Keep line breaks as files and shells have them: browsers send two characters for each."""
        data = super().clean() or self.cleaned_data
        return {
            name: value.replace("\r\n", "\n") if isinstance(value, str) else value
            for name, value in data.items()
        }

    def validated(self) -> dict[str, Any]:
        """Return the services' arguments: text, mode, rule, attempts."""
        data = self.cleaned_data
        return {
            "title": data["title"],
            "instructions": data["instructions"],
            "max_attempts": data["max_attempts"],
            **rule_of(data),
        }

    def refuse(self, error: DomainError) -> None:
        """Show a refusal at the field that it names, else above the form."""
        if isinstance(error, MissingFields):
            for name in error.fields:
                self.add_error(name if name in self.fields else None, error.message)
            return
        name = error.field.rpartition(".")[2] if isinstance(error, Invalid) else ""
        if self.cleaned_data.get("check") == SEVERAL and name not in TEXT_FIELDS:
            name = "rules"
        self.add_error(name if name in self.fields else None, error.message)


def rule_of(data: dict[str, Any]) -> dict[str, Any]:
    """Return mode and rule from the form's flat fields."""
    check = data["check"]
    if check == "manual":
        return {"validation_mode": ValidationMode.MANUAL, "validation_rule": None}
    if check == SEVERAL:
        return {"validation_mode": ValidationMode.ARTIFACT, "validation_rule": data["rules"] or []}
    # An empty number means the default; an empty text goes on, to be refused by the rule itself.
    rule = {name: data[name] for name in FIELDS_OF[check] if data[name] is not None}
    if check == "shell":
        return {"validation_mode": ValidationMode.SHELL, "validation_rule": rule}
    return {"validation_mode": ValidationMode.ARTIFACT, "validation_rule": {"rule": check, **rule}}


def version_seen(posted: Mapping[str, str]) -> int | None:
    """Return the version that a page showed of what its button acts on, where it tells."""
    version = posted.get("version", "")
    return int(version) if version.isdecimal() and len(version) < 16 else None


def initial_of(mode: str, rule: Any) -> dict[str, Any]:
    """Return the form's flat fields for a stored rule; one that SQL put in wrong is shown as is."""
    if mode == ValidationMode.MANUAL:
        return {"check": "manual"}
    if mode == ValidationMode.SHELL and isinstance(rule, dict):
        return {"check": "shell", **rule}
    if isinstance(rule, dict) and rule.get("rule") in FIELDS_OF:
        return {"check": rule["rule"], **{k: v for k, v in rule.items() if k != "rule"}}
    return {"check": SEVERAL, "rules": rule}


def rule_text(rule: Any) -> str:
    """Return a stored rule as people read it: its command, or its checks."""
    if not rule:
        return ""
    if isinstance(rule, dict) and "cmd" in rule:
        return f"{rule['cmd']}\n# {rule.get('timeout', TIMEOUT_DEFAULT)} s"
    return json.dumps(rule, ensure_ascii=False, indent=2)
