"""Django's handle on the app."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class NotificationsConfig(AppConfig):
    """Name the app for the admin."""

    name = "notifications"
    verbose_name = _("Notifications")
