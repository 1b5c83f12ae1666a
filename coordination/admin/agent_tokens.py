"""Agent tokens: each lets one remote agent work under one session."""

import datetime as dt
from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils import timezone

from coordination.admin.base import ServiceForm
from coordination.admin.bearers import BearerAdmin
from coordination.models import HUMAN, AgentToken
from coordination.services import agent_tokens


class AgentTokenForm(ServiceForm):
    """Make a token for an agent's session."""

    key = ""  # the token itself, known until the answer is sent

    class Meta:
        model = AgentToken
        fields = ("session", "name", "expires_at")

    def perform(self) -> None:
        """Make the token through the service."""
        self.key = agent_tokens.create_token(token=self.instance)


class AgentTokenAdmin(BearerAdmin):
    """List the tokens of agents, make one, revoke."""

    form = AgentTokenForm
    service = agent_tokens
    list_display = ("name", "session", "created_at", "last_used_at", "expires_at", "revoked_at")
    list_filter = ("session",)
    search_fields = ("name", "session__key")

    def get_fields(self, request: HttpRequest, obj: AgentToken | None = None) -> tuple[str, ...]:
        """Show everything of a token but its hash."""
        return self.list_display if obj else AgentTokenForm.Meta.fields

    def formfield_for_foreignkey(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> "forms.ModelChoiceField[Any] | None":
        """Offer the sessions that agents work under."""
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if field is not None and field.queryset is not None:
            field.queryset = field.queryset.exclude(pk=HUMAN)
        return field

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Propose a lifetime."""
        expires = timezone.now() + dt.timedelta(days=agent_tokens.DAYS)
        return {"expires_at": expires, **super().get_changeform_initial_data(request)}

    def shown_with(self, request: HttpRequest) -> dict[str, Any]:
        """Add the address where the token opens, for the lines to paste."""
        return {"address": request.build_absolute_uri("/mcp")}
