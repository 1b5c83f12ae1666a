"""Django's handle on the app."""

from django.apps import AppConfig


class McpBridgeConfig(AppConfig):
    """Name the app."""

    name = "mcp_bridge"
