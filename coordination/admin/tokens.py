"""API tokens: made here, shown once, revoked here."""

import datetime as dt
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache

from coordination.actors import Actor
from coordination.admin.base import ServiceAdmin, ServiceForm
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


class ApiTokenAdmin(ServiceAdmin):
    """List one's own tokens (a superuser: everybody's), make one, revoke."""

    form = TokenForm
    list_display = ("name", "user", "created_at", "last_used_at", "expires_at", "revoked_at")
    list_select_related = ("user",)
    search_fields = ("name", "user__username")
    autocomplete_fields = ("user",)
    actions = ("revoke_selected",)

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

    def has_change_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        """Let nothing of a token be edited; it can be revoked."""
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Tell who may revoke."""
        return request.user.has_perm("coordination.change_apitoken")

    def save_model(
        self, request: HttpRequest, obj: ApiToken, form: forms.ModelForm, change: bool
    ) -> None:
        """Hand the key to the page that shows it."""
        request.new_token = form.key  # type: ignore[attr-defined]

    def response_add(
        self, request: HttpRequest, obj: ApiToken, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the key, this once, on a page that nothing keeps."""
        context = {
            **self.admin_site.each_context(request),
            "title": _("Token made"),
            "opts": self.opts,
            "token": obj,
            "key": request.new_token,  # type: ignore[attr-defined]
        }
        page = TemplateResponse(request, "admin/coordination/apitoken/created.html", context)
        return never_cache(lambda _request: page)(request)

    @admin.action(description=_("Revoke the selected tokens"), permissions=["revoke"])
    def revoke_selected(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        """Revoke each through the service."""
        for token_id in queryset.values_list("pk", flat=True):
            tokens.revoke(token_id=token_id)
        self.message_user(request, _("The selected tokens are revoked."))

    def remove(self, actor: Actor, obj: ApiToken) -> None:
        """Delete the token, which ends it too."""
        tokens.delete(token_id=obj.pk)
