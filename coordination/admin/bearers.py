"""What tokens of every kind share: made here, shown once, revoked here, never edited."""

from typing import Any, Protocol

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache

from coordination.actors import Actor
from coordination.admin.base import ServiceAdmin


class Tokens(Protocol):
    """The service of one kind of token."""

    def revoke(self, *, token_id: int) -> None:
        """End a token."""

    def delete(self, *, token_id: int) -> None:
        """Forget a token."""


class BearerAdmin(ServiceAdmin):
    """List tokens, make one, revoke. The form leaves the new token's key in `key`."""

    service: Tokens
    actions = ("revoke_selected",)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Let nothing of a token be edited; it can be revoked."""
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Tell who may revoke."""
        return request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")

    def save_model(
        self, request: HttpRequest, obj: Model, form: forms.ModelForm, change: bool
    ) -> None:
        """Hand the key to the page that shows it."""
        request.new_token = form.key  # type: ignore[attr-defined]

    def response_add(
        self, request: HttpRequest, obj: Model, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the key, this once, on a page that nothing keeps."""
        context = {
            **self.admin_site.each_context(request),
            "title": _("Token made"),
            "opts": self.opts,
            "token": obj,
            "key": request.new_token,  # type: ignore[attr-defined]
            **self.shown_with(request),
        }
        template = f"admin/coordination/{self.opts.model_name}/created.html"
        page = TemplateResponse(request, template, context)
        return never_cache(lambda _request: page)(request)

    def shown_with(self, request: HttpRequest) -> dict[str, Any]:
        """Return what the page that shows the key says besides."""
        return {}

    @admin.action(description=_("Revoke the selected tokens"), permissions=["revoke"])
    def revoke_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Revoke each through the service."""
        for token_id in queryset.values_list("pk", flat=True):
            self.service.revoke(token_id=token_id)
        self.message_user(request, _("The selected tokens are revoked."))

    def remove(self, actor: Actor, obj: Model) -> None:
        """Delete the token, which ends it too."""
        self.service.delete(token_id=obj.pk)
