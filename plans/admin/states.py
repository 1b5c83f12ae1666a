"""States in colour, and the buttons of what a person may do in each."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from plans.models import ValidationMode
from plans.states import TRANSITIONS, PlanStatus, TaskEvent, TaskStatus, allowed_events

PLAN_ACTIONS = {
    "pause": (PlanStatus.PAUSED, (PlanStatus.ACTIVE,)),
    "resume": (PlanStatus.ACTIVE, (PlanStatus.PAUSED, PlanStatus.ARCHIVED)),
    "archive": (PlanStatus.ARCHIVED, (PlanStatus.ACTIVE, PlanStatus.PAUSED, PlanStatus.DONE)),
}
"""What a person does to a plan: the status it gets, and those it is offered in."""


@dataclass(frozen=True, slots=True)
class Button:
    """A button that posts to `url` with the version that the person saw; or a link to a form."""

    label: str
    url: str
    version: int
    is_link: bool = False
    confirm: str = ""


def plan_label(action: str) -> str:
    """Return the name of a plan's action."""
    return {"pause": _("Pause"), "resume": _("Resume"), "archive": _("Archive")}[action]


def task_buttons(task_id: int, status: str, version: int, back: str) -> list[Button]:
    """Return what a person may do to a step now, from the transition table."""
    return [
        Button(
            label=capfirst(str(event.label)),
            url=_url("admin:plans_task_do", task_id, event, back=back),
            version=version,
            is_link=TRANSITIONS[event].needs_remark,
            confirm=_("Skip step #{id}? It will not be done.").format(id=task_id)
            if event == TaskEvent.SKIP
            else "",
        )
        for event in allowed_events(status)
    ]


def plan_buttons(plan_id: int, status: str, version: int, back: str) -> list[Button]:
    """Return what a person may do to a plan now."""
    return [
        Button(plan_label(action), _url("admin:plans_plan_do", plan_id, action, back=back), version)
        for action, (_target, sources) in PLAN_ACTIONS.items()
        if status in sources
    ]


def duplicate_button(plan_id: int, version: int, back: str) -> Button:
    """Return the button that copies a plan, whatever its status."""
    return Button(_("Duplicate"), _url("admin:plans_plan_duplicate", plan_id, back=back), version)


def rendered(buttons: Iterable[Button], *, name: str) -> SafeString:
    """Return a list row's buttons, each called by `name` too: they post the list's own form."""
    return render_to_string("admin/plans/row_buttons.html", {"buttons": buttons, "name": name})


def task_state(status: str) -> SafeString:
    """Return a step's state as a coloured label."""
    return _badge(status, str(TaskStatus(status).label))


def plan_state(status: str) -> SafeString:
    """Return a plan's state as a coloured label."""
    return _badge(f"plan-{status}", str(PlanStatus(status).label))


def moment(when: dt.datetime) -> SafeString:
    """Return a date and time, short and in order; a narrow column breaks between the two."""
    local = timezone.localtime(when)
    return format_html(
        '<span class="step-moment">{}</span> {}',
        local.strftime("%Y-%m-%d"),
        local.strftime("%H:%M"),
    )


def mode_label(mode: str) -> str:
    """Return how a step is validated."""
    return str(ValidationMode(mode).label)


def _badge(name: str, label: str) -> SafeString:
    return format_html('<span class="step-state step-state-{}">{}</span>', name, label)


def _url(view: str, *args: object, back: str) -> str:
    return f"{reverse(view, args=args)}?{urlencode({'next': back})}"
