"""Steps: all of them in one list, each on a page of its own, with what a person may do to it."""

from collections.abc import Callable
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.admin import helpers
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from coordination.actors import Actor
from plans.admin import states
from plans.admin.base import EditorAdmin
from plans.admin.filters import ProjectFilter, WaitingFilter
from plans.admin.step_form import StepForm
from plans.forms import rule_text, version_seen
from plans.models import Task
from plans.selectors.activity import task_activity
from plans.services import tasks, transitions
from plans.states import HUMAN_EVENTS, TRANSITIONS, TaskEvent, editable

RULE_FIELDS = ("check", "cmd", "timeout", "path", "text", "url", "status", "rules", "max_attempts")
WRITTEN = ("title", "instructions", *RULE_FIELDS)


class TaskAdmin(EditorAdmin):
    """List, search and filter every step; act on one or many."""

    form = StepForm
    list_display = ("number", "title", "plan_link", "state", "mode", "since")
    list_display_links = ("number", "title")
    list_filter = ("status", ProjectFilter, "validation_mode", WaitingFilter)
    list_select_related = ("plan",)
    search_fields = ("title_folded__contains", "plan__title_folded__contains")
    search_help_text = _("Title of the step or of its plan, or #number")
    ordering = ("-plan_id", "position", "id")
    autocomplete_fields = ("plan",)
    warn_unsaved_form = True
    change_form_outer_before_template = "admin/plans/buttons.html"
    change_form_before_template = "admin/plans/task/stored.html"
    change_form_outer_after_template = "admin/plans/activity.html"
    SHOWN: ClassVar = ("plan_link", "title", "instructions_drawn", "how", "max_attempts")
    RUN: ClassVar = ("tries", "proof", "error", "started_at", "completed_at", "updated_at")

    def get_fieldsets(self, request: HttpRequest, obj: Task | None = None) -> list[Any]:
        """Offer fields where the step may be written; show it as text where not."""
        if obj is None:
            return [(None, {"fields": ("plan", *WRITTEN)})]
        if self._is_locked(request, obj):
            return [(None, {"fields": self.SHOWN}), (_("Course"), {"fields": self.RUN})]
        return [
            (None, {"fields": ("plan_link", *WRITTEN)}),
            (_("Course"), {"fields": self.RUN}),
            (_("Instructions as they are read"), {"fields": ("instructions_drawn",)}),
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Task | None = None) -> tuple[str, ...]:
        """Keep what only services write."""
        if obj is None:
            return ()
        if self._is_locked(request, obj):
            return (*self.SHOWN, *self.RUN)
        return ("plan_link", *self.RUN, "instructions_drawn")

    def get_form(
        self, request: HttpRequest, obj: Task | None = None, change: bool = False, **kwargs: Any
    ) -> type[forms.ModelForm]:
        """Take only the plan from the model: the form declares the rest."""
        kwargs["fields"] = () if obj else ("plan",)
        return super().get_form(request, obj, change=change, **kwargs)

    def _is_locked(self, request: HttpRequest, obj: Task) -> bool:
        """Tell whether the page only shows the step; what is sent to it meets the service."""
        if not super().has_change_permission(request, obj):
            return True
        return request.method != "POST" and not editable(obj.status)

    def offered(self, request: HttpRequest, obj: Task) -> list[states.Button]:
        """Return what the transition table allows a person."""
        if not self.has_change_permission(request):
            return []
        return states.task_buttons(obj.pk, obj.status, obj.version, request.get_full_path())

    def beside(self, request: HttpRequest, obj: Task) -> dict[str, Any]:
        """Return the step's state and what happened; no button that saves what is only shown."""
        locked = self._is_locked(request, obj)
        return {
            "state": states.task_state(obj.status),
            "locked": locked and self.has_change_permission(request),
            "activity": task_activity(task_id=obj.pk),
            **(dict.fromkeys(("show_save", "show_save_and_continue"), False) if locked else {}),
        }

    def get_urls(self) -> list[URLPattern]:
        """Add the addresses of a step's buttons and of the preview."""
        view = self.admin_site.admin_view
        return [
            path("<int:task_id>/do/<slug:event>/", view(self.do), name="plans_task_do"),
            path("preview/", view(require_POST(self.preview)), name="plans_task_preview"),
            *super().get_urls(),
        ]

    def preview(self, request: HttpRequest) -> HttpResponse:
        """Draw Markdown that is being typed."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        context = {"text": request.POST.get("text", "")}
        return TemplateResponse(request, "admin/plans/markdown.html", context)

    def do(self, request: HttpRequest, task_id: int, event: str) -> HttpResponse:
        """Act on one step; ask for the remark first where one is needed."""
        if event not in HUMAN_EVENTS:
            raise Http404
        if not self.has_change_permission(request):
            raise PermissionDenied
        row = TRANSITIONS[TaskEvent(event)]
        if request.method != "POST" or (row.needs_remark and "remark" not in request.POST):
            return self._ask(request, row.event, [task_id])
        act = self._act(request, row.event, version_seen(request.POST))
        self.each(request, [task_id], act, _done(row.event))
        return self.back(request)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Offer every row of the transition table that is a person's."""
        actions = super().get_actions(request)
        if self.has_change_permission(request):
            for event in HUMAN_EVENTS:
                name = event.value.replace("-", "_")
                label = gettext("{action} the selected steps").format(
                    action=capfirst(str(event.label))
                )
                actions[name] = (_bulk(event), name, label)
        return actions

    def act_on_selected(
        self, request: HttpRequest, event: TaskEvent, queryset: QuerySet[Task]
    ) -> HttpResponse | None:
        """Act on each selected step, with one remark for all where one is needed."""
        ids = list(queryset.order_by("pk").values_list("pk", flat=True))
        remark = request.POST.get("remark", "")
        if TRANSITIONS[event].needs_remark and not remark.strip():
            return self._ask(request, event, ids, bulk=True)
        self.each(request, ids, self._act(request, event), _done(event))
        return redirect(request.get_full_path())

    def remove(self, actor: Actor, obj: Task) -> None:
        """Delete the step."""
        tasks.delete_task(actor=actor, task_id=obj.pk)

    @admin.display(description=_("plan"), ordering="plan_id")
    def plan_link(self, task: Task) -> SafeString:
        """Return a link to the plan's page."""
        url = reverse("admin:plans_plan_change", args=[task.plan_id])
        return format_html('<a class="step-link" href="{}">{}</a>', url, task.plan)

    @admin.display(description=_("status"), ordering="status")
    def state(self, task: Task) -> SafeString:
        """Return the coloured state."""
        return states.task_state(task.status)

    @admin.display(description=_("validation"), ordering="validation_mode")
    def mode(self, task: Task) -> str:
        """Return who or what validates."""
        return states.mode_label(task.validation_mode)

    @admin.display(description=_("attempts"))
    def tries(self, task: Task) -> str:
        """Return attempts made of those allowed."""
        return f"{task.attempts}/{task.max_attempts}"

    @admin.display(description=_("instructions"))
    def instructions_drawn(self, task: Task) -> str:
        """Return the instructions as Markdown shows them."""
        return _drawn(task.instructions)

    @admin.display(description=_("validation"))
    def how(self, task: Task) -> SafeString:
        """Return the mode and the rule."""
        return format_html(
            "{}<pre>{}</pre>", self.mode(task), rule_text(task.validation_rule)
        ) if task.validation_rule else format_html("{}", self.mode(task))  # fmt: skip

    @admin.display(description=_("proof"))
    def proof(self, task: Task) -> str:
        """Return the evidence, as Markdown shows it."""
        return _drawn(task.last_proof)

    @admin.display(description=_("error"))
    def error(self, task: Task) -> str:
        """Return why it failed or was sent back."""
        return _drawn(task.last_error)

    @admin.display(description=_("since"), ordering="status_since")
    def since(self, task: Task) -> SafeString:
        """Return when the step came to its state."""
        return states.moment(task.status_since)

    def _act(
        self, request: HttpRequest, event: TaskEvent, version: int | None = None
    ) -> Callable[[int], None]:
        actor, remark = self.actor(request), request.POST.get("remark", "")

        def act(task_id: int) -> None:
            transitions.act(
                actor=actor, task_id=task_id, action=event, remark=remark, version=version
            )

        return act

    def _ask(
        self, request: HttpRequest, event: TaskEvent, ids: list[int], *, bulk: bool = False
    ) -> HttpResponse:
        """Show the steps and ask for confirmation, with a remark where the table wants one."""
        context = {
            **self.admin_site.each_context(request),
            "title": capfirst(str(event.label)),
            "opts": self.opts,
            "event": event,
            "steps": Task.objects.filter(pk__in=ids[:50]).order_by("pk"),
            "more": max(0, len(ids) - 50),
            "selected": request.POST.getlist(helpers.ACTION_CHECKBOX_NAME) if bulk else [],
            "select_across": request.POST.get("select_across", "0"),
            "bulk": bulk,
            "action_name": event.value.replace("-", "_"),
            "needs_remark": TRANSITIONS[event].needs_remark,
            "missing": bulk and "remark" in request.POST,
            "checkbox_name": helpers.ACTION_CHECKBOX_NAME,
            "media": self.media,
        }
        return TemplateResponse(request, "admin/plans/task/ask.html", context)


def _drawn(text: str) -> str:
    return render_to_string("admin/plans/markdown.html", {"text": text}) if text else "–"


def _bulk(event: TaskEvent) -> Callable[[TaskAdmin, HttpRequest, QuerySet[Task]], Any]:
    def act(
        model_admin: TaskAdmin, request: HttpRequest, queryset: QuerySet[Task]
    ) -> HttpResponse | None:
        return model_admin.act_on_selected(request, event, queryset)

    return act


def _done(event: TaskEvent) -> str:
    return {
        TaskEvent.VALIDATE: gettext("Steps validated: {count}."),
        TaskEvent.REJECT: gettext("Steps sent back: {count}."),
        TaskEvent.RESET: gettext("Steps reset: {count}."),
        TaskEvent.SKIP: gettext("Steps skipped: {count}."),
    }[event]
