"""Targets: where a person is told, of what, and when not. Their addresses are never shown."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminPasswordWidget

from coordination.actors import Actor
from coordination.admin.base import MergingForm, ServiceAdmin
from coordination.errors import DomainError
from coordination.selectors.sessions import agent_sessions
from notifications.models import Occasion, Target
from notifications.sealing import Unreadable, masked, unseal
from notifications.services import duty, targets

URL_MAX = 2000


class TargetForm(MergingForm):
    """Add a target or change it; a stored address is replaced, never read back."""

    url = forms.CharField(
        label=_("Address"),
        required=False,
        max_length=URL_MAX,
        # What was just typed comes back with an error; what is stored never does.
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "off"}, render_value=True),
    )
    occasions = forms.MultipleChoiceField(
        label=_("When"), choices=Occasion.choices, widget=UnfoldAdminCheckboxSelectMultipleWidget
    )
    projects = forms.MultipleChoiceField(
        label=_("Projects"),
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text=_("None chosen: all of them."),
    )

    class Meta:
        model = Target
        fields = (
            "name", "url", "user", "occasions", "stale_minutes", "projects", "quiet_from",
            "quiet_to", "with_bodies", "enabled",
        )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "url" not in self.fields:
            return  # a person who may only look
        url = self.fields["url"]
        if self.instance.pk is None:
            url.help_text = gettext("As apprise writes it, e.g. ntfy://topic; kept encrypted.")
        else:
            url.label = gettext("New address")
            url.help_text = gettext("Empty: the address stays as it is.")
        # A session deleted since stays listed: it is still one of those chosen.
        keys = dict.fromkeys([s.key for s in agent_sessions()] + list(self.instance.projects))
        projects = self.fields["projects"]
        assert isinstance(projects, forms.MultipleChoiceField)  # noqa: S101 - declared above
        projects.choices = [(key, key) for key in keys]

    def perform(self) -> None:
        """Save through the service."""
        if self.instance.user_id is None:
            self.instance.user = self.person
        targets.save(
            target=self.instance,
            url=self.cleaned_data["url"],
            adding=self.instance._state.adding,
            fields=self.changed_data,
        )


class TargetAdmin(ServiceAdmin):
    """List one's own targets (a superuser: everybody's), add, change, try out, delete."""

    form = TargetForm
    list_display = ("name", "address", "user", "enabled", "told", "last_sent_at", "last_error")
    list_filter = ("enabled",)
    list_select_related = ("user",)
    search_fields = ("name", "user__username")
    autocomplete_fields = ("user",)
    actions = ("test_selected",)
    actions_submit_line = ("save_and_test",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Target]:
        """Show other people's targets to superusers only."""
        rows = super().get_queryset(request)
        return rows if request.user.is_superuser else rows.filter(user=request.user.pk)

    def get_fields(self, request: HttpRequest, obj: Target | None = None) -> list[str]:
        """Let superusers alone choose whom a target is for."""
        names = list(TargetForm.Meta.fields)
        if not request.user.is_superuser:
            names.remove("user")
        if obj is None:
            return names
        if not self.has_change_permission(request, obj):
            names.remove("url")
        return ["address", *names, *self.get_readonly_fields(request, obj)[1:]]

    def get_readonly_fields(
        self, request: HttpRequest, obj: Target | None = None
    ) -> tuple[str, ...]:
        """Say how the sending goes."""
        return ("address", "last_sent_at", "failures", "last_error") if obj else ()

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Propose the person themselves, and all that may be told."""
        chosen = {"user": request.user.pk, "occasions": Occasion.values}
        return {**chosen, **super().get_changeform_initial_data(request)}

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Say so when nobody sends."""
        if request.method == "GET" and not duty.is_held():
            self.message_user(request, _nobody_sends(), messages.WARNING)
        return super().changelist_view(request, extra_context)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Make room for the test among the buttons."""
        context = {"show_save_and_add_another": False, **(extra_context or {})}
        return super().changeform_view(request, object_id, form_url, context)

    @admin.display(description=_("address"))
    def address(self, target: Target) -> str:
        """Return the kind of service, or why the address cannot be read."""
        try:
            return masked(unseal(target.sealed_url))
        except Unreadable as error:
            return error.message

    @admin.display(description=_("when"))
    def told(self, target: Target) -> str:
        """Return what is told there."""
        return ", ".join(str(Occasion(name).label) for name in target.occasions)

    def save_model(
        self, request: HttpRequest, obj: Target, form: forms.ModelForm, change: bool
    ) -> None:
        """Act on the button beside « Save »: the form has saved."""
        super().save_model(request, obj, form, change)
        for button in self.get_actions_submit_line(request, obj.pk):
            if button.action_name in request.POST:
                button.method(request, obj)

    @action(description=_("Save and send a test"))
    def save_and_test(self, request: HttpRequest, obj: Target) -> None:
        """Try the address as it was just saved."""
        self._test(request, obj)

    @admin.action(description=_("Send a test to the selected targets"), permissions=["change"])
    def test_selected(self, request: HttpRequest, queryset: QuerySet[Target]) -> None:
        """Try each."""
        for target in queryset:
            self._test(request, target)

    def _test(self, request: HttpRequest, target: Target) -> None:
        """Send after the page's transaction: a service may take seconds."""
        link = request.build_absolute_uri("/")

        def send() -> None:
            try:
                targets.send_test(target_id=target.pk, link=link)
            except DomainError as error:
                text = _("{name}: the test was not sent. {reason}")
                said = text.format(name=target.name, reason=error.message)
                self.message_user(request, said, messages.ERROR)
            else:
                self.message_user(request, _("{name}: the test was sent.").format(name=target.name))

        transaction.on_commit(send)

    def remove(self, actor: Actor, obj: Target) -> None:
        """Delete through the service."""
        targets.delete(target_id=obj.pk)


def _nobody_sends() -> str:
    if settings.NOTIFY == "off":
        return gettext("Nothing is sent: HANDOFF_NOTIFY is off.")
    return gettext(
        "Nothing is sent: no process has the duty. Is manage.py serve or notify running?"
    )
