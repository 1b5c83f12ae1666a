"""Plans: listed with how far they are, and edited with all their steps on one page."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from coordination.actors import Actor
from coordination.admin.base import ServiceForm
from coordination.errors import DomainError, Stale
from coordination.models import Session
from coordination.selectors.sessions import agent_sessions
from plans.admin import states
from plans.admin.base import EditorAdmin
from plans.admin.fields import refusal_text
from plans.admin.filters import ProjectFilter, WaitingFilter
from plans.admin.rows import Refused, StepRows
from plans.forms import version_seen
from plans.models import Plan, Task
from plans.selectors.activity import plan_activity
from plans.selectors.plans import plan_row
from plans.services import copies, plans
from plans.states import WAITING


class PlanForm(ServiceForm):
    """A plan's title and its steps, saved together or not at all."""

    version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    seen_title = forms.CharField(widget=forms.HiddenInput, required=False)
    page = 1  # of the steps; set for each request by PlanAdmin.get_form

    class Meta:
        model = Plan
        fields = ("project", "title")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.adding = self.instance.pk is None
        self.stored_title = ""
        if not self.adding:
            self.initial.update(version=self.instance.version, seen_title=self.instance.title)
        if "project" in self.fields:
            keys = [session.key for session in agent_sessions()]
            self.fields["project"].queryset = Session.objects.filter(key__in=keys)  # type: ignore[attr-defined]
        self.steps = StepRows(
            plan_id=self.instance.pk,
            person=self.person,
            data=self.data if self.is_bound else None,
            page=self.page,
        )

    def full_clean(self) -> None:
        """Act; after a refusal, draw the steps again as they are now."""
        super().full_clean()
        if self.is_bound and self.errors:
            self.steps.redraw()

    def clean(self) -> dict[str, Any]:
        """Check the steps with the plan: one page, one save."""
        data = super().clean() or self.cleaned_data
        if not self.steps.is_valid():
            self.add_error(None, gettext("Nothing was saved: correct the steps marked below."))
        return data

    def perform(self) -> None:
        """Save through the services, in one transaction."""
        try:
            with transaction.atomic():
                plan = self._create() if self.adding else self._rename()
                self.steps.save(actor=self.actor, plan_id=plan)
        except Refused:
            self.add_error(
                None, gettext("Nothing was saved: see below what was refused, and what changed.")
            )
        except Stale as refusal:
            self._show_newer(refusal)
        else:
            self.instance = Plan.objects.get(pk=plan)

    def _create(self) -> int:
        data = self.cleaned_data
        created = plans.create_plan(
            actor=self.actor, project=data["project"].key, title=data["title"]
        )
        return int(created.pk)

    def _rename(self) -> int:
        data = self.cleaned_data
        plan_id = int(self.instance.pk)
        # A title left as it was drawn is not written over somebody else's.
        if data["title"] != data["seen_title"]:
            plans.patch_plan(
                actor=self.actor,
                plan_id=plan_id,
                title=data["title"],
                version=data["version"] or 0,
            )
        return plan_id

    def _show_newer(self, refusal: Stale) -> None:
        """Keep the title typed beside the one stored now, and let the next save replace it."""
        now = refusal.data["current"]
        self.add_error("title", refusal_text(refusal))
        self.add_error("title", gettext("Stored now: “{title}”.").format(title=now["title"]))
        newer = {"version": str(now["version"]), "seen_title": now["title"]}
        self.data = {**dict(self.data.items()), **newer}


class PlanAdmin(EditorAdmin):
    """List, search and filter plans; write one with its steps."""

    form = PlanForm
    list_display = (
        "number",
        "title",
        "project",
        "state",
        "progress",
        "waiting",
        "updated",
    )
    list_display_links = ("number", "title")
    list_filter = (ProjectFilter, "status", WaitingFilter, "created_at")
    list_select_related = ("project",)
    search_fields = ("title_folded__contains",)
    search_help_text = _("Title, or #number")
    ordering = ("-created_at", "-id")
    actions = ("pause_selected", "resume_selected", "archive_selected")
    warn_unsaved_form = True
    change_form_outer_before_template = "admin/plans/buttons.html"
    change_form_after_template = "admin/plans/plan/steps.html"
    change_form_outer_after_template = "admin/plans/activity.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Plan]:
        """Add each plan's counts, which only the rows shown pay for."""
        return super().get_queryset(request).annotate(
            total=_count(),
            settled_count=_count(settled=True),
            waiting_count=_count(status__in=WAITING),
        )  # fmt: skip

    def get_fields(self, request: HttpRequest, obj: Plan | None = None) -> tuple[str, ...]:
        """Choose the project once: a plan stays in its queue."""
        return ("title",) if obj else ("project", "title")

    def get_form(
        self, request: HttpRequest, obj: Plan | None = None, change: bool = False, **kwargs: Any
    ) -> type[forms.ModelForm]:
        """Tell the form which page of a long plan's steps is shown."""
        form = super().get_form(request, obj, change=change, **kwargs)
        page = request.GET.get("steps", "")
        form.page = int(page) if page.isdecimal() and len(page) < 6 else 1  # type: ignore[attr-defined]
        return form

    def offered(self, request: HttpRequest, obj: Plan) -> list[states.Button]:
        """Return what the plan's status allows, and a copy."""
        back, buttons = request.get_full_path(), []
        if self.has_change_permission(request):
            buttons = states.plan_buttons(obj.pk, obj.status, obj.version, back)
        if self.has_add_permission(request):
            buttons.append(states.duplicate_button(obj.pk, obj.version, back))
        return buttons

    def beside(self, request: HttpRequest, obj: Plan) -> dict[str, Any]:
        """Return the plan's progress, its state and what happened."""
        return {
            "plan": plan_row(plan_id=obj.pk),
            "state": states.plan_state(obj.status),
            "activity": plan_activity(plan_id=obj.pk),
        }

    def save_model(
        self, request: HttpRequest, obj: Plan, form: forms.ModelForm, change: bool
    ) -> None:
        """Say what changed under rows that the person left alone; the form has acted."""
        for note in form.steps.notes:  # type: ignore[attr-defined]
            self.message_user(request, note, messages.WARNING)

    def get_urls(self) -> list[URLPattern]:
        """Add the addresses that a plan's buttons post to."""
        do, duplicate = (
            self.admin_site.admin_view(require_POST(view)) for view in (self.do, self.duplicate)
        )
        return [
            path("<int:plan_id>/do/<slug:action>/", do, name="plans_plan_do"),
            path("<int:plan_id>/duplicate/", duplicate, name="plans_plan_duplicate"),
            *super().get_urls(),
        ]

    def do(self, request: HttpRequest, plan_id: int, action: str) -> HttpResponse:
        """Pause, resume or archive one plan."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        if action not in states.PLAN_ACTIONS:
            raise Http404
        self._set(request, [plan_id], action, version_seen(request.POST))
        return self.back(request)

    def duplicate(self, request: HttpRequest, plan_id: int) -> HttpResponse:
        """Copy one plan, and go to the copy: people copy a plan to change it."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        try:
            copy = copies.duplicate_plan(actor=self.actor(request), plan_id=plan_id)
        except DomainError as refusal:
            self.message_user(request, refusal_text(refusal), messages.ERROR)
            return self.back(request)
        done = gettext("This is the copy of plan #{id}.").format(id=plan_id)
        self.message_user(request, done, messages.SUCCESS)
        return redirect("admin:plans_plan_change", copy.pk)

    @admin.action(description=_("Pause the selected plans"), permissions=["change"])
    def pause_selected(self, request: HttpRequest, queryset: QuerySet[Plan]) -> None:
        """Let the next plans through."""
        self._set(request, _ids(queryset), "pause")

    @admin.action(description=_("Resume the selected plans"), permissions=["change"])
    def resume_selected(self, request: HttpRequest, queryset: QuerySet[Plan]) -> None:
        """Put them back in their queues."""
        self._set(request, _ids(queryset), "resume")

    @admin.action(description=_("Archive the selected plans"), permissions=["change"])
    def archive_selected(self, request: HttpRequest, queryset: QuerySet[Plan]) -> None:
        """Put them away."""
        self._set(request, _ids(queryset), "archive")

    def remove(self, actor: Actor, obj: Plan) -> None:
        """Delete the plan with its steps."""
        plans.delete_plan(actor=actor, plan_id=obj.pk)

    @admin.display(description=_("status"), ordering="status")
    def state(self, plan: Plan) -> SafeString:
        """Return the coloured state."""
        return states.plan_state(plan.status)

    @admin.display(description=_("progress"))
    def progress(self, plan: Any) -> SafeString:
        """Return settled steps of all, with a bar."""
        return format_html(
            '<span class="step-progress"><progress max="{1}" value="{0}" aria-hidden="true">'
            "</progress> {0}/{1}</span>",
            plan.settled_count, plan.total,
        )  # fmt: skip

    @admin.display(description=_("waiting for a human"), ordering="waiting_count")
    def waiting(self, plan: Any) -> SafeString | str:
        """Return how many steps wait for a person."""
        if not plan.waiting_count:
            return "–"
        return format_html('<span class="step-waiting">{}</span>', plan.waiting_count)

    @admin.display(description=_("updated"), ordering="updated_at")
    def updated(self, plan: Plan) -> SafeString:
        """Return when the plan or one of its steps last changed."""
        return states.moment(plan.updated_at)

    def _set(
        self, request: HttpRequest, ids: list[int], action: str, version: int | None = None
    ) -> None:
        target, _sources = states.PLAN_ACTIONS[action]
        actor = self.actor(request)

        def act(plan_id: int) -> None:
            plans.patch_plan(actor=actor, plan_id=plan_id, status=target, version=version)

        done = {
            "pause": gettext("Plans paused: {count}."),
            "resume": gettext("Plans resumed: {count}."),
            "archive": gettext("Plans archived: {count}."),
        }
        self.each(request, ids, act, done[action])


def _ids(queryset: QuerySet[Plan]) -> list[int]:
    return list(queryset.order_by("pk").values_list("pk", flat=True))


def _count(**steps: Any) -> Coalesce:
    """Count a plan's steps of a kind: an index look-up for each row shown."""
    found = Task.objects.filter(plan=OuterRef("pk"), **steps).order_by().values("plan")
    counted = Subquery(found.annotate(n=Count("pk")).values("n"), output_field=IntegerField())
    return Coalesce(counted, 0)
