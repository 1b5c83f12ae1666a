"""The event feed, to look at."""

from django.http import HttpRequest
from unfold.admin import ModelAdmin

from coordination.models import Event


class EventAdmin(ModelAdmin):
    """List what happened; nobody writes history."""

    list_display = ("at", "actor", "verb", "subject")
    search_fields = ("subject__startswith", "actor__startswith")
    ordering = ("-pk",)
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Never."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Event | None = None) -> bool:
        """Never."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Event | None = None) -> bool:
        """Never: age alone prunes the feed."""
        return False
