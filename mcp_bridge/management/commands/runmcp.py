"""Serve MCP over standard input and output, for one agent session."""

import gc
import logging.config
import os
import select
import signal
import sys
import threading
from typing import Any

import anyio
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from mcp_bridge.identity import Identity
from mcp_bridge.server import Bridge
from mcp_bridge.stdio import GRACE_SECONDS, Stdio
from mcp_bridge.wire import Wire, claim

EXIT_SECONDS = GRACE_SECONDS + 0.5
"""From the end of the input to the end of the process, whatever hangs."""


class Command(BaseCommand):
    """Runs until the client goes away."""

    help = "Serve the MCP tools over standard input and output, for one agent session."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the session, which the environment usually gives."""
        parser.add_argument("--session", help="the session's key; default: MCP_SESSION_ID")

    def handle(self, *_args: Any, session: str | None, **_options: Any) -> None:
        """Serve, then leave at once: a thread may still be waiting for the database."""
        wire = claim()
        logging.config.dictConfig(settings.LOGGING)
        gc.freeze()  # what start-up made stays: no need to look at it again and again
        gc.set_threshold(20_000)  # a call makes thousands of short-lived objects, and no cycle
        gc.enable()
        anyio.run(serve, wire, Identity.of_process(session))
        leave()


async def serve(wire: Wire, identity: Identity) -> None:
    """Serve one client until it goes away or we are told to stop."""
    bridge = Bridge(identity)

    async def ending() -> None:
        last_resort = threading.Timer(EXIT_SECONDS, leave)
        last_resort.daemon = True
        last_resort.start()
        await bridge.end()

    client = Stdio(wire, on_end=ending)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stop_on_signal, client)
        tasks.start_soon(stop_when_alone, wire, client)
        async with client.streams() as (read, write):
            await bridge.server.run(read, write, bridge.options())
        tasks.cancel_scope.cancel()


async def stop_on_signal(client: Stdio) -> None:
    """Stop when asked to."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _number in signals:
            client.stop()


async def stop_when_alone(wire: Wire, client: Stdio) -> None:
    """Stop when our parent has died or the client has closed our output.

    Neither need end our input: another process may hold the pipe's other end open.
    """
    hangup = select.poll()
    hangup.register(wire.output, 0)  # reports errors and hang-ups only
    while os.getppid() == wire.parent and not hangup.poll(0):  # noqa: ASYNC110  no event tells
        await anyio.sleep(1)
    client.stop()


def leave() -> None:
    """End the process without waiting for anything."""
    sys.stderr.flush()
    os._exit(0)
