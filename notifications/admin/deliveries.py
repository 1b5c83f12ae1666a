"""What was told, what waits to be, and what could not be; to look at."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin

from notifications.models import Delivery


class DeliveryAdmin(ModelAdmin):
    """List the notifications to one's own targets (a superuser: to everybody's)."""

    list_display = (
        "created_at", "target", "occasion", "about", "status", "attempts", "next_try_at",
        "finished_at", "last_error",
    )  # fmt: skip
    list_filter = ("status", "occasion")
    list_select_related = ("target",)
    search_fields = ("subject__startswith", "target__name")
    ordering = ("-pk",)
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        """Show other people's to superusers only."""
        rows = super().get_queryset(request)
        return rows if request.user.is_superuser else rows.filter(target__user=request.user.pk)

    @admin.display(description=_("subject"), ordering="subject")
    def about(self, delivery: Delivery) -> str:
        """Return the step or question as the board numbers it."""
        return f"#{delivery.subject.partition(':')[2]}"

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Never."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Delivery | None = None) -> bool:
        """Never."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Delivery | None = None) -> bool:
        """Never: age alone prunes them."""
        return False
