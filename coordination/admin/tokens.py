"""API tokens: made here, shown once, revoked here."""

import datetime as dt
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from coordination.admin.base import ServiceForm
from coordination.admin.bearers import BearerAdmin
from coordination.models import ApiToken
from coordination.services import tokens


class TokenForm(ServiceForm):
    """Make a token, for oneself; a superuser may make one for somebody else."""

    key = ""  # the token itself, known until the answer is sent

    class Meta:
        model = ApiToken
        fields = ("user", "name", "expires_at")

    def clean_expires_at(self) -> dt.datetime | None:
        """Refuse a token that would be born dead."""
        expires: dt.datetime | None = self.cleaned_data["expires_at"]
        if expires and expires <= timezone.now():
            raise ValidationError(_("This date is past."))
        return expires

    def perform(self) -> None:
        """Make the token through the service."""
        if "user" not in self.fields:
            self.instance.user = self.person
        self.key = tokens.create_token(token=self.instance)


class ApiTokenAdmin(BearerAdmin):
    """List one's own tokens (a superuser: everybody's), make one, revoke."""

    form = TokenForm
    service = tokens
    list_display = ("name", "user", "created_at", "last_used_at", "expires_at", "revoked_at")
    list_select_related = ("user",)
    search_fields = ("name", "user__username")
    autocomplete_fields = ("user",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiToken]:
        """Show everybody's tokens to superusers only."""
        rows = super().get_queryset(request)
        return rows if request.user.is_superuser else rows.filter(user=request.user.pk)

    def get_fields(self, request: HttpRequest, obj: ApiToken | None = None) -> tuple[str, ...]:
        """Let superusers alone choose whom a token acts for: it carries that person's rights."""
        if obj:
            return self.list_display
        return TokenForm.Meta.fields if request.user.is_superuser else ("name", "expires_at")

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Propose the person themselves."""
        return {"user": request.user.pk, **super().get_changeform_initial_data(request)}
