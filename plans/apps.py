"""Django's handle on the app."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PlansConfig(AppConfig):
    """Name the app for the admin."""

    name = "plans"
    verbose_name = _("Plans")
