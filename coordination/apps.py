"""The lowest layer: sessions, messages, the event feed, API tokens."""

from django.apps import AppConfig
from django.core.checks import Tags, register
from django.utils.translation import gettext_lazy as _

from coordination import checks


class CoordinationConfig(AppConfig):
    """Name the app for the admin."""

    name = "coordination"
    verbose_name = _("Coordination")

    def ready(self) -> None:
        """Register what is looked at where a database is named."""
        register(checks.check_search, Tags.database)
