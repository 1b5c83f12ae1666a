"""The board's page and its parts: each part is drawn in one place, for the page and live alike."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_GET

from coordination.errors import DomainError, NotFound
from coordination.models import MessageStatus
from coordination.selectors import messages, sessions
from coordination.text import fold
from handoff_site.board import content
from handoff_site.board.parts import draw
from plans.portable.export import export_plan
from plans.selectors import queues
from plans.services.steps import expire_leases

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def signed_out() -> HttpResponse:
    """Answer a part's request 401: the page loads itself again, and so leads to the sign-in."""
    return HttpResponse(status=401, headers={"HX-Refresh": "true"})


def signed_in(view: View[P]) -> View[P]:
    """Let a view that draws a part of the page run for signed-in people."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        return view(request, *args, **kwargs) if request.user.is_authenticated else signed_out()

    return wrapper


@login_required
@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """Show the whole board; to look is to notice a dead runner."""
    expire_leases()
    task = request.GET.get("task", "")
    task_id = int(task) if task.isdecimal() and len(task) < 16 else None
    return render(request, "board/page.html", content.desk(request.user, task_id=task_id))


@require_GET
def fragments(request: HttpRequest) -> HttpResponse:
    """Draw the parts named by `n`, for a page whose socket is away."""
    if not request.user.is_authenticated:
        return HttpResponse(status=401)
    return HttpResponse(draw(request.user, request.GET.getlist("n")))


@signed_in
@require_GET
def thread(request: HttpRequest, message_id: int) -> HttpResponse:
    """Show a question and its answers in the side panel."""
    try:
        context = content.thread(message_id)
    except NotFound as error:
        return refused(error)
    return render(request, "board/thread_panel.html", context | content.rights(request.user))


@login_required
@require_GET
def export(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Give a plan as a Markdown file, which `manage.py plan import` takes back."""
    try:
        text = export_plan(plan_id=plan_id)
    except NotFound as error:
        return refused(error)
    name = f'attachment; filename="plan-{plan_id}.md"'
    return HttpResponse(
        text,
        content_type="text/markdown; charset=utf-8",
        headers={"Content-Disposition": name},
    )


@signed_in
@require_GET
def history(request: HttpRequest) -> HttpResponse:
    """Search every question, with the filters of mf_history."""
    names = ("subject_contains", "from_session", "to_session", "status")
    filters = {name: request.GET.get(name, "")[:200].replace("\x00", "") for name in names}
    found = messages.history(**filters, limit=100)
    return render(
        request,
        "board/history.html",
        {
            "questions": [content.labelled(question) for question in found],
            "filters": filters,
            "session_keys": [session.key for session in sessions.sessions()],
            "statuses": MessageStatus.choices,
        },
    )


@signed_in
@require_GET
def search(request: HttpRequest) -> HttpResponse:
    """Find plans, steps and questions by a part of their title or their number."""
    text = request.GET.get("q", "")[:200].replace("\x00", "").strip().lstrip("#")
    if not fold(text):
        return HttpResponse("")
    plans, tasks = queues.search(text=text)
    questions = messages.history(subject_contains=text, limit=8)
    nothing = not (plans or tasks or questions)
    found = {"plans": plans, "tasks": tasks, "questions": questions, "nothing": nothing}
    return render(request, "board/_results.html", found)


def refused(error: DomainError) -> HttpResponse:
    """Answer a refusal in its own words, as text that a page can show next to the button."""
    return HttpResponse(
        render_to_string("board/_refusal.html", {"message": error.message}),
        status=error.http_status,
    )
