"""What the lists can be narrowed to."""

from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from coordination.selectors.sessions import agent_sessions
from plans.models import Plan, PlanStatus, Task
from plans.states import WAITING


class WaitingFilter(SimpleListFilter):
    """Keep what waits for a person, in plans that are not put away."""

    title = _("waiting for a human")
    parameter_name = "waiting"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Offer the one choice beside all."""
        return [("yes", _("waiting"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Narrow a list of steps, or of plans by their steps."""
        if self.value() != "yes":
            return queryset
        if queryset.model is Plan:
            steps = Task.objects.filter(plan=OuterRef("pk"), status__in=WAITING)
            return queryset.filter(Exists(steps)).exclude(status=PlanStatus.ARCHIVED)
        kept = queryset.filter(status__in=WAITING)
        return kept.exclude(plan__status=PlanStatus.ARCHIVED)


class ProjectFilter(SimpleListFilter):
    """Keep one project's plans or steps."""

    title = _("project")
    parameter_name = "project"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer each session that can own plans."""
        return [(session.key, session.key) for session in agent_sessions()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Narrow by the plan's project."""
        if not self.value():
            return queryset
        path = "project" if queryset.model is Plan else "plan__project"
        return queryset.filter(**{path: self.value()})
