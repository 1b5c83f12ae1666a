"""The lowest layer: sessions, messages, the event feed, API tokens."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CoordinationConfig(AppConfig):
    """Name the app for the admin."""

    name = "coordination"
    verbose_name = _("Coordination")
