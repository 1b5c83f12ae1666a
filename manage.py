#!/usr/bin/env python
"""Run Handoff's commands: serve, runmcp, mcpconfig, migrate, demo and Django's own."""

import gc
import os
import sys


def main() -> None:
    """Hand the command line to Django."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "handoff_site.settings")
    if sys.argv[1:2] == ["runmcp"]:
        # One process per agent session: it loads the models and the tools, not the web side.
        os.environ.setdefault("HANDOFF_ROLE", "agent")
        # What start-up loads stays: collecting it again and again is a tenth of the start.
        gc.disable()
        # Before the settings: whatever they print must not reach the protocol's pipe.
        from mcp_bridge.wire import claim

        claim()
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
