"""Print a link that signs a person in, for whoever may run commands on this machine."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from handoff_site import startup
from handoff_site.ways_in import link_for


class Command(BaseCommand):
    """Print a link: ten minutes, once. It makes the administrator where there is none yet."""

    help = "Print a sign-in link, good for ten minutes and once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take a name."""
        parser.add_argument(
            "username", nargs="?", help="whom it signs in; by default the first administrator"
        )

    def handle(self, *, username: str | None, **_options: Any) -> None:
        """Print it, and the administrator's password if it was made just now."""
        startup.prepare_database()
        site = startup.site_address(settings.HOST, settings.PORT)
        if username is None:
            welcome = startup.welcome(site=site)
        else:
            user = User.objects.filter(username=username, is_active=True).first()
            if user is None:
                raise CommandError(_("No active account is called {name}.").format(name=username))
            welcome = startup.Welcome(username, "", site + link_for(user))
        self.stdout.write("\n".join(welcome.lines()))
