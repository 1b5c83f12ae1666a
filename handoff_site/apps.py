"""Django's handle on the app."""

from django.apps import AppConfig


class HandoffSiteConfig(AppConfig):
    """Name the app."""

    name = "handoff_site"
