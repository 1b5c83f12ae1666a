"""Serve the site: pages, REST and the board's socket, from one process."""

import contextlib
import logging
import socket
import warnings
from argparse import ArgumentParser
from typing import Any

import uvicorn
from django.conf import settings
from django.core.checks import ERROR, Tags, run_checks
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from django.utils.translation import gettext as _

from handoff_site import checks, startup
from handoff_site.asgi import application
from handoff_site.metrics import Measured
from handoff_site.pruning import Pruner, prune_now
from handoff_site.remote_agents import agents
from notifications import worker as notifications

SOCKET_MESSAGE_MAX = 64 * 1024
HEADERS_MAX = 32 * 1024
"""Bytes; Django limits bodies itself."""
GOODBYE_SECONDS = 3
"""How long open sockets may take to close before a stop stops waiting for them."""


class Server(uvicorn.Server):
    """End remote agents' open answers first: their connections are then not waited for."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        await agents.end()
        await super().shutdown(sockets)


class Command(BaseCommand):
    """Migrate, welcome whoever starts it, serve until stopped."""

    help = "Serve Handoff: pages, REST and the board, on HANDOFF_HOST and HANDOFF_PORT."
    # Run in `handle`, which prints a problem as one line.
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Let the command line override the address."""
        parser.add_argument("--host", default=settings.HOST, help="address to listen on")
        parser.add_argument("--port", default=settings.PORT, type=int, help="port to listen on")

    def handle(self, *, host: str, port: int, **_options: Any) -> None:
        """Serve until SIGINT or SIGTERM, whenever it comes."""
        startup.stop_on_signals()
        with contextlib.suppress(KeyboardInterrupt):
            self._serve(host, port)
        self.stdout.write(_("Stopped."))

    def _serve(self, host: str, port: int) -> None:
        """Refuse early and clearly, then serve."""
        self._check(host, port)
        with contextlib.closing(startup.claim(host, port)) as listener:
            startup.prepare_database()
            for problem in run_checks(tags=[Tags.database], databases=["default"]):
                self.stderr.write(" ".join(filter(None, (problem.msg, problem.hint))))
            prune_now()
            site = startup.site_address(host, port)
            self._welcome(site, host)
            connections.close_all()
            Pruner().start()
            with notifications.beside(site=site):
                self._server(host, port).run(sockets=[listener])

    def _check(self, host: str, port: int) -> None:
        problems = run_checks()
        if not checks.is_loopback(host) and settings.ON_LOOPBACK and host != settings.HOST:
            problems.append(checks.unnamed_host(host))
        for problem in problems:
            line = " ".join(filter(None, (problem.msg, problem.hint)))
            if problem.level >= ERROR:
                raise CommandError(line)
            self.stderr.write(line)
        if not 1 <= port <= 65535:
            raise CommandError(
                _("--port: a port is from 1 to 65535, not {port}.").format(port=port)
            )

    def _welcome(self, site: str, host: str) -> None:
        self.stdout.write(_("Handoff serves {site}/ (Ctrl-C stops it).").format(site=site))
        if startup.a_person_reads(host):
            lines = startup.welcome(site=site).lines()
        else:
            lines = [_("For a sign-in link: manage.py sign_in_link")]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()

    def _server(self, host: str, port: int) -> Server:
        # WhiteNoise hands out files in pieces; read whole under ASGI, they are small.
        warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume")
        # Its start and stop lines say less than ours.
        logging.getLogger("uvicorn").setLevel(logging.WARNING)
        config = uvicorn.Config(
            Measured(application),
            host=host,
            port=port,
            http="h11",
            ws="websockets-sansio",
            ws_max_size=SOCKET_MESSAGE_MAX,
            h11_max_incomplete_event_size=HEADERS_MAX,
            proxy_headers=settings.SECURE_PROXY_SSL_HEADER is not None,
            server_header=False,
            access_log=False,
            log_config=None,
            timeout_graceful_shutdown=GOODBYE_SECONDS,
        )
        return Server(config)
