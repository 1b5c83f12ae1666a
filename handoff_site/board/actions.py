"""What the board's buttons do: each calls one service and says which parts it changed.

A success has no content: the page fetches the changed parts. A refusal is a sentence, shown next
to the button that was pressed.
"""

import json
from collections.abc import Callable, Iterable
from functools import wraps

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from coordination.actors import Actor
from coordination.errors import DomainError, Forbidden
from coordination.services import messages
from handoff_site.board.views import P, View, refused, signed_out
from plans.forms import version_seen
from plans.selectors.plans import plan_row
from plans.selectors.tasks import task_detail
from plans.services import copies, transitions
from plans.services import plans as plan_services
from plans.services import tasks as task_services


def changed(fragments: Iterable[str], *, close: bool = False) -> HttpResponse:
    """Answer a success: the page draws `fragments` again, and closes its dialog if asked to."""
    detail = {"fragments": list(fragments), "close": close}
    return HttpResponse(status=204, headers={"HX-Trigger": json.dumps({"board:changed": detail})})


def permitted(permission: str) -> Callable[[View[P]], View[P]]:
    """Let a view run for people with `permission`; turn every refusal into its sentence."""

    def decorate(view: View[P]) -> View[P]:
        @wraps(view)
        def wrapper(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            if not request.user.is_authenticated:
                return signed_out()
            try:
                if not request.user.has_perm(permission):
                    raise Forbidden(_("You may look, but not do this: ask an administrator."))
                return view(request, *args, **kwargs)
            except DomainError as error:
                return refused(error)

        return wrapper

    return decorate


def person(request: HttpRequest) -> Actor:
    """Return the signed-in person as an actor."""
    return Actor.human(request.user.get_username())


@require_POST
@permitted("coordination.add_message")
def answer(request: HttpRequest, message_id: int) -> HttpResponse:
    """Answer a question as human."""
    messages.answer(actor=person(request), message_id=message_id, body=request.POST.get("body", ""))
    return changed((f"thread-{message_id}", "for-you", "questions", "activity"))


@require_POST
@permitted("coordination.change_message")
def close(request: HttpRequest, message_id: int) -> HttpResponse:
    """Close a question."""
    messages.close(actor=person(request), message_id=message_id)
    return changed((f"thread-{message_id}", "for-you", "questions", "activity"))


@require_POST
@permitted("plans.change_task")
def task_action(request: HttpRequest, task_id: int, action: str) -> HttpResponse:
    """Validate, send back, reset or skip a step."""
    transitions.act(
        actor=person(request),
        task_id=task_id,
        action=action,
        remark=request.POST.get("remark", ""),
        version=version_seen(request.POST),
    )
    return changed(_of_task(task_id))


@require_POST
@permitted("plans.change_task")
def task_move(request: HttpRequest, task_id: int) -> HttpResponse:
    """Move a step up, down, before another one or to the end."""
    before = request.POST.get("before", "")
    if direction := request.POST.get("direction", ""):
        task_services.move_task(actor=person(request), task_id=task_id, direction=direction)
    elif before:
        number = int(before) if before.isdecimal() and len(before) < 16 else 0  # no step's
        task_services.move_task(actor=person(request), task_id=task_id, before=number)
    else:
        task_services.move_task(actor=person(request), task_id=task_id, last=True)
    return changed(_of_task(task_id, reordered=True))


@require_POST
@permitted("plans.delete_task")
def task_delete(request: HttpRequest, task_id: int) -> HttpResponse:
    """Delete a step."""
    task = task_detail(task_id=task_id)
    task_services.delete_task(
        actor=person(request), task_id=task_id, version=version_seen(request.POST)
    )
    return changed((f"column-{task.project}", f"steps-{task.plan_id}", "for-you", "activity"))


@require_POST
@permitted("plans.change_plan")
def plan_status(request: HttpRequest, plan_id: int, status: str) -> HttpResponse:
    """Pause, resume or archive a plan."""
    plan_services.patch_plan(
        actor=person(request), plan_id=plan_id, status=status, version=version_seen(request.POST)
    )
    return changed(_of_plan(plan_id))


@require_POST
@permitted("plans.add_plan")
def plan_duplicate(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Copy a plan, its steps pending, to the end of its project's queue."""
    copies.duplicate_plan(actor=person(request), plan_id=plan_id)
    return changed(_of_plan(plan_id))


@require_POST
@permitted("plans.delete_plan")
def plan_delete(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Delete a plan with its steps."""
    parts = _of_plan(plan_id)
    plan_services.delete_plan(
        actor=person(request), plan_id=plan_id, version=version_seen(request.POST)
    )
    return changed(parts)


def _of_task(task_id: int, *, reordered: bool = False) -> list[str]:
    plan_id = task_detail(task_id=task_id).plan_id
    rows = f"steps-{plan_id}" if reordered else f"step-{task_id}"
    return [f"plan-{plan_id}", rows, f"task-{task_id}", "for-you", "activity"]


def _of_plan(plan_id: int) -> list[str]:
    return [f"column-{plan_row(plan_id=plan_id).project}", "for-you", "activity"]
