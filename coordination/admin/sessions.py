"""Sessions: one row more is one more agent, column and choice everywhere."""

from typing import ClassVar

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminColorInputWidget

from coordination.actors import Actor
from coordination.admin.base import MergingForm, ServiceAdmin
from coordination.models import Session
from coordination.services import sessions


class SessionForm(MergingForm):
    """Add a session, or change its looks and place."""

    class Meta:
        model = Session
        fields = ("key", "color", "description", "position")
        widgets: ClassVar = {"color": UnfoldAdminColorInputWidget()}

    def perform(self) -> None:
        """Save through the service."""
        sessions.save(
            actor=self.actor,
            session=self.instance,
            adding=self.instance._state.adding,
            fields=self.changed_data,
        )


class SessionAdmin(ServiceAdmin):
    """List, add, change; delete what nothing refers to."""

    form = SessionForm
    list_display = ("key", "swatch", "description", "position", "last_seen")
    search_fields = ("key", "description")
    fields = ("key", "color", "description", "position", "last_seen")

    def get_readonly_fields(
        self, request: HttpRequest, obj: Session | None = None
    ) -> tuple[str, ...]:
        """Keep the key of a session that exists: messages and plans name it."""
        return ("key", "last_seen") if obj else ("last_seen",)

    @admin.display(description=_("colour"))
    def swatch(self, session: Session) -> str:
        """Show the colour, by an element that needs no inline style."""
        return format_html(
            '<svg width="32" height="16" role="img" aria-label="{0}">'
            '<rect width="32" height="16" rx="4" fill="{0}"/></svg>',
            session.color,
        )

    def remove(self, actor: Actor, obj: Session) -> None:
        """Delete through the service, which says what still refers to it."""
        sessions.delete(actor=actor, key=obj.key)
