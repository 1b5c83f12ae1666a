"""An admin that writes through services: a refusal is a message, and a success is one."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from unfold.admin import ModelAdmin

from coordination.actors import Actor
from coordination.errors import DomainError, Invalid
from coordination.text import fold

DELETIONS_SHOWN = 100
"""Names that a deletion's confirmation lists; the rest is a number."""


class ServiceForm(forms.ModelForm):
    """A form whose valid data go to a service: what it refuses is an error of the form.

    So a refusal keeps what the person typed, and no page ever reports a success that was not.
    """

    person: User  # set for each request by ServiceAdmin.get_form

    @property
    def actor(self) -> Actor:
        """Return the person as `human`."""
        return Actor.human(self.person.get_username())

    def full_clean(self) -> None:
        """Validate, then act."""
        super().full_clean()
        if not self.is_bound or self.errors:
            return
        try:
            self.perform()
        except Invalid as refusal:
            self.add_error(refusal.field if refusal.field in self.fields else None, refusal.message)
        except DomainError as refusal:
            self.add_error(None, refusal.message)
        except ValidationError as refusal:
            self.add_error(None, refusal)

    def perform(self) -> None:
        """Call the service; leave the object that the page goes on with in `instance`."""
        raise NotImplementedError


class MergingForm(ServiceForm):
    """A form for rows without a version: what others saved meanwhile stays.

    The page brings back what it showed, so that `changed_data` is what the person changed, not
    what differs from the row as it is by now. A field that both changed is refused.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        brings_back = not self.is_bound or any(
            name.startswith(self.add_initial_prefix("")) for name in self.data
        )
        if brings_back and not self.instance._state.adding:
            for name in self._meta.fields or ():
                if name in self.fields and name in self.initial:
                    self.fields[name].show_hidden_initial = True

    def clean(self) -> dict[str, Any]:
        """Take what the person left alone as it is by now; refuse what both changed."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for name, field in self.fields.items():
            if not field.show_hidden_initial or name not in cleaned:
                continue
            if name not in self.changed_data:
                cleaned[name] = getattr(self.instance, name)
            elif self._changed_by_both(name, field):
                text = _("Somebody changed this meanwhile, to “{value}”: reload the page, then "
                         "redo your change.")  # fmt: skip
                self.add_error(name, text.format(value=self.get_initial_for_field(field, name)))
        return cleaned

    def _changed_by_both(self, name: str, field: forms.Field) -> bool:
        shown = field.hidden_widget().value_from_datadict(
            self.data, self.files, self.add_initial_prefix(name)
        )
        now = self.get_initial_for_field(field, name)
        return field.has_changed(now, shown) and field.has_changed(now, self[name].data)


class ServiceAdmin(ModelAdmin):
    """The admin of a model that only services write."""

    show_full_result_count = False

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> type[forms.ModelForm]:
        """Tell the form who acts."""
        form = super().get_form(request, obj, change=change, **kwargs)
        return type(form.__name__, (form,), {"person": request.user})

    def save_model(
        self, request: HttpRequest, obj: Any, form: forms.ModelForm, change: bool
    ) -> None:
        """Do nothing more: the form has acted."""

    def remove(self, actor: Actor, obj: Any) -> None:
        """Delete one object through its service."""
        raise NotImplementedError

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Delete through the service."""
        self.remove(Actor.human(request.user.get_username()), obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete all of them, or none when one is refused."""
        for obj in queryset:
            self.delete_model(request, obj)

    def get_deleted_objects(
        self, objs: QuerySet[Any] | list[Any], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """List what goes, bounded. Whether it may go, the service says."""
        found = list(objs)
        names = [str(obj) for obj in found[:DELETIONS_SHOWN]]
        if len(found) > DELETIONS_SHOWN:
            names.append(_("… and {count} more").format(count=len(found) - DELETIONS_SHOWN))
        return names, {str(self.opts.verbose_name_plural): len(found)}, set(), []

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show a refusal where the person came from."""
        view = super().delete_view
        return self._refusable(request, lambda: view(request, object_id, extra_context))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Undo a bulk action, its log included, when one of its objects is refused."""
        view = super().changelist_view
        return self._refusable(request, lambda: view(request, extra_context))

    def _refusable(self, request: HttpRequest, view: Callable[[], HttpResponse]) -> HttpResponse:
        if request.method != "POST":
            return view()
        try:
            with transaction.atomic():
                return view()
        except DomainError as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
            return redirect(
                reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
            )


class FoldedSearchAdmin(ServiceAdmin):
    """An admin whose `search_fields` look into folded columns, as every other search does.

    Any case, any accents, on every database; `%` and `_` are ordinary characters.
    """

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Take `#12` for a number, anything else for words that all must be there."""
        term = search_term.replace("\x00", "").strip()
        number = term.removeprefix("#")
        if term.startswith("#") and number.isdecimal() and len(number) < 19:
            return queryset.filter(pk=int(number)), False
        return super().get_search_results(request, queryset, fold(term))
