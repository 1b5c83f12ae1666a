"""What plans and steps share: buttons, actions that report each refusal, pages to come back to."""

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from coordination.actors import Actor
from coordination.admin.base import FoldedSearchAdmin, ServiceAdmin
from coordination.errors import Conflict, DomainError
from plans.admin.fields import refusal_text
from plans.admin.states import Button, rendered

REFUSALS_SHOWN = 20
"""Of one bulk action, each on its line; the rest is a number."""


class EditorAdmin(FoldedSearchAdmin):
    """A list whose actions act on each row by itself; each row and page has its buttons."""

    list_per_page = 50
    list_max_show_all = 200
    list_fullwidth = True

    class Media:
        css = {"all": ("plans/editor.css",)}
        js = ("plans/editor.js",)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Keep what a bulk action did when it refuses some rows; a deletion is all or nothing."""
        if request.POST.get("action") == "delete_selected":
            return super().changelist_view(request, extra_context)
        return super(ServiceAdmin, self).changelist_view(request, extra_context)

    def offered(self, request: HttpRequest, obj: Any) -> list[Button]:
        """Return what this person may do to the object now."""
        raise NotImplementedError

    def beside(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        """Return what the object's page shows besides its form."""
        raise NotImplementedError

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """End each row with its buttons.

        They are a function of this request: the admin object is every thread's.
        """

        @admin.display(description=gettext_lazy("actions"))
        def buttons(obj: Any) -> SafeString:
            return rendered(self.offered(request, obj), name=f"#{obj.pk}")

        return [*super().get_list_display(request), buttons]

    @admin.display(description="#", ordering="pk")
    def number(self, obj: Any) -> str:
        """Return the id as people write it."""
        return f"#{obj.pk}"

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Add the object's state, what may be done to it, and what happened."""
        extra = extra_context or {}
        rows = self.model._default_manager.filter(pk=object_id if object_id.isdecimal() else None)
        if obj := rows.first():
            extra = {"buttons": self.offered(request, obj), **self.beside(request, obj), **extra}
        return super().change_view(request, object_id, form_url, extra)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Go to the activity: it tells what agents did too."""
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_change"
        return redirect(reverse(name, args=[object_id]) + "#activity-title")

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete all of them; when some are refused, none, and say which.

        Raises:
            Conflict: its message has a sentence for each row refused.
        """
        refusals = []
        for obj in queryset:
            try:
                self.delete_model(request, obj)
            except DomainError as refusal:
                refusals.append(refusal_text(refusal))
        if refusals:
            raise Conflict(" ".join([_("Nothing was deleted."), *_shortened(refusals)]))

    def each(
        self, request: HttpRequest, ids: Iterable[int], act: Callable[[int], None], done: str
    ) -> int:
        """Act on each row in its own transaction; report how many did, and why others did not."""
        count, refusals = 0, []
        for object_id in ids:
            try:
                act(object_id)
                count += 1
            except DomainError as refusal:
                refusals.append(refusal_text(refusal))
        if count:
            self.message_user(request, done.format(count=count), messages.SUCCESS)
        for sentence in _shortened(refusals):
            self.message_user(request, sentence, messages.ERROR)
        return count

    def back(self, request: HttpRequest) -> HttpResponseRedirect:
        """Go back to the page that the person came from: one of this site's, else the list."""
        url = request.GET.get("next", "")
        if url_has_allowed_host_and_scheme(url, {request.get_host()}, request.is_secure()):
            return redirect(url)
        return redirect(self.list_url)

    @property
    def list_url(self) -> str:
        """Return the address of the list."""
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")

    def actor(self, request: HttpRequest) -> Actor:
        """Return the signed-in person."""
        return Actor.human(request.user.get_username())


def _shortened(refusals: list[str]) -> list[str]:
    more = len(refusals) - REFUSALS_SHOWN
    if more <= 0:
        return refusals
    return [*refusals[:REFUSALS_SHOWN], _("… and {count} more refused.").format(count=more)]
