"""Django's handle on the app."""

from django.apps import AppConfig


class PlansConfig(AppConfig):
    """Name the app."""

    name = "plans"
