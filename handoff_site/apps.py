"""Django's handles: this app, and the admin with a site of its own."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig
from django.core.checks import Tags, register

from handoff_site import checks


class HandoffSiteConfig(AppConfig):
    """Name the app; look at the settings before anything is served."""

    name = "handoff_site"

    def ready(self) -> None:
        """Register the start-up checks."""
        register(checks.check_folders, Tags.files)
        register(checks.check_addresses, Tags.security)


class HandoffAdminConfig(AdminConfig):
    """Use Handoff's own admin site wherever Django says `admin.site`."""

    default_site = "handoff_site.admin_site.HandoffAdminSite"
