"""The board's forms, shown in its one dialog: drawn by GET, carried out by POST.

A refused form is drawn again with what was typed and why it was refused; what somebody else saved
meanwhile stands beside it.
"""

from collections.abc import Callable
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from coordination.errors import DomainError, Invalid, Stale
from coordination.forms import QuestionForm
from coordination.models import HUMAN
from coordination.selectors import sessions
from coordination.services import messages
from handoff_site.board.actions import changed, permitted, person
from plans.forms import PlanForm, StepListForm, TaskForm, initial_of, rule_text
from plans.selectors.plans import plan_row
from plans.selectors.tasks import task_detail
from plans.services import copies
from plans.services import plans as plan_services
from plans.services import tasks as task_services

form_view = require_http_methods(["GET", "POST"])


def show(
    request: HttpRequest,
    form: forms.Form,
    *,
    heading: str,
    submit: str,
    save: Callable[[], Any],
    fragments: tuple[str, ...],
) -> HttpResponse:
    """Draw `form`; when it was sent and holds, `save` it, or show why that was refused."""
    status, stored = 200, None
    if request.method == "POST":
        try:
            if form.is_valid():
                save()
                return changed((*fragments, "for-you", "activity"), close=True)
            status = 422
        except DomainError as error:
            _refuse(form, error)
            status = error.http_status
            stored = _renew(form, error) if isinstance(error, Stale) else None
    context = {
        "form": form,
        "heading": heading,
        "submit": submit,
        "action": request.get_full_path(),
        "stored": stored,
    }
    response = render(request, "board/dialog.html", context, status=status)
    response["HX-Retarget"] = "#dialog"
    return response


@form_view
@permitted("coordination.add_message")
def ask(request: HttpRequest) -> HttpResponse:
    """Ask one session, or everyone, as human."""
    keys = [session.key for session in sessions.agent_sessions()]
    form = QuestionForm(request.POST or None, sessions=keys)

    def save() -> None:
        data = form.cleaned_data
        if to := data["to"]:
            messages.ask(actor=person(request), to=to, subject=data["subject"], body=data["body"])
        else:
            messages.broadcast(actor=person(request), subject=data["subject"], body=data["body"])

    return show(
        request,
        form,
        heading=_("Ask a question as {human}").format(human=HUMAN),
        submit=_("Ask"),
        save=save,
        fragments=("questions",),
    )


@form_view
@permitted("plans.add_plan")
def plan_new(request: HttpRequest, project: str) -> HttpResponse:
    """Add a plan at the end of a project's queue."""
    form = PlanForm(request.POST or None)
    return show(
        request,
        form,
        heading=_("New plan for {project}").format(project=project),
        submit=_("Create"),
        save=lambda: plan_services.create_plan(
            actor=person(request), project=project, title=form.cleaned_data["title"]
        ),
        fragments=(f"column-{project}",),
    )


@form_view
@permitted("plans.change_plan")
def plan_edit(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Rename a plan."""
    row = plan_row(plan_id=plan_id)
    form = PlanForm(request.POST or None, initial={"title": row.title, "version": row.version})
    return show(
        request,
        form,
        heading=_("Rename the plan"),
        submit=_("Save"),
        save=lambda: plan_services.patch_plan(
            actor=person(request),
            plan_id=plan_id,
            title=form.cleaned_data["title"],
            version=form.cleaned_data["version"],
        ),
        fragments=(f"plan-{plan_id}",),
    )


@form_view
@permitted("plans.add_task")
def task_new(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Add a step at the end of a plan, or after the step named by `after`."""
    row = plan_row(plan_id=plan_id)
    form = TaskForm(request.POST or None, initial={"after": request.GET.get("after")})
    return show(
        request,
        form,
        heading=_("New step in “{plan}”").format(plan=row.title),
        submit=_("Add"),
        save=lambda: task_services.add_task(
            actor=person(request),
            plan_id=plan_id,
            after=form.cleaned_data["after"],
            **form.validated(),
        ),
        fragments=(f"column-{row.project}", f"steps-{plan_id}"),
    )


@form_view
@permitted("plans.add_task")
def tasks_paste(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Add a step for each item of a pasted list."""
    row = plan_row(plan_id=plan_id)
    form = StepListForm(request.POST or None)
    return show(
        request,
        form,
        heading=_("Steps of a list, in “{plan}”").format(plan=row.title),
        submit=_("Add"),
        save=lambda: copies.add_tasks_from_list(
            actor=person(request), plan_id=plan_id, text=form.cleaned_data["text"]
        ),
        fragments=(f"column-{row.project}", f"steps-{plan_id}"),
    )


@form_view
@permitted("plans.change_task")
def task_edit(request: HttpRequest, task_id: int) -> HttpResponse:
    """Edit a step that no agent works on."""
    task = task_detail(task_id=task_id)
    initial = {
        "title": task.title,
        "instructions": task.instructions,
        "max_attempts": task.max_attempts,
        "version": task.version,
        **initial_of(task.validation_mode, task.validation_rule),
    }
    form = TaskForm(request.POST or None, initial=initial)
    return show(
        request,
        form,
        heading=_("Step #{id}").format(id=task_id),
        submit=_("Save"),
        save=lambda: task_services.patch_task(
            actor=person(request),
            task_id=task_id,
            version=form.cleaned_data["version"],
            **form.validated(),
        ),
        fragments=(f"plan-{task.plan_id}", f"steps-{task.plan_id}", f"task-{task_id}"),
    )


def _refuse(form: forms.Form, error: DomainError) -> None:
    if isinstance(form, TaskForm):
        form.refuse(error)
    elif isinstance(error, Invalid) and error.field in form.fields:
        form.add_error(error.field, error.message)
    else:
        form.add_error(None, error.message)


def _renew(form: forms.Form, error: Stale) -> dict[str, Any]:
    """Return what is stored now, which the next save of `form` replaces knowingly."""
    stored: dict[str, Any] = error.data["current"]
    form.data = {**dict(form.data.items()), "version": str(stored["version"])}
    return stored | {"rule_text": rule_text(stored.get("validation_rule"))}
