"""The YAML of a plan's file: read safely with the lines of its faults, written to be read."""

from typing import Any

import yaml
from django.utils.translation import gettext as _

from plans.portable.document import Fault

_ODD = set("\r\x85\u2028\u2029")
"""Line breaks to YAML, which would come back as others unless they are escaped."""


class _Dumper(yaml.SafeDumper):
    """Writes text of several lines as lines."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = None
    if _ODD & set(value):
        style = '"'
    elif "\n" in value and value[0] not in " \n":
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)


_Dumper.add_representer(str, _text)


def written(values: dict[str, Any]) -> str:
    """Return values as YAML, in their order."""
    text: str = yaml.dump(
        values, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=float("inf")
    )
    return text


def read(lines: list[str], first: int, known: tuple[str, ...]) -> dict[str, Any] | Fault:
    """Return the mapping that lines hold, the first of which is line `first` of the file."""
    try:
        values = yaml.safe_load("\n".join(lines))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        return Fault(first + line, _("this is not valid YAML; put odd text in quotes."))
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return Fault(first, _("this is not valid YAML; put odd text in quotes."))
    if not isinstance(values, dict):
        return Fault(first, _("write one `name: value` a line."))
    for key in values:
        if key not in known:
            message = _("unknown name {name}; use {known}.").format(
                name=key, known=", ".join(known)
            )
            return Fault(first + _line_of(str(key), lines), message)
    return values


def _line_of(key: str, lines: list[str]) -> int:
    """Return the index of the line that names `key`; the first one when none begins with it."""
    return next((n for n, line in enumerate(lines) if line.startswith(f"{key}:")), 0)
