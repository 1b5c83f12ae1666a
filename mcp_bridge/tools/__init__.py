"""The tools: one module per app, one list of all."""

from mcp_bridge.tool import Tool
from mcp_bridge.tools import coordination, plans, waiting
from mcp_bridge.tools.waiting import Waits
from plans.runner.validation import Runner


def all_tools(runner: Runner, waits: Waits) -> tuple[Tool, ...]:
    """Return every tool, in the order that agents read them."""
    return (*coordination.TOOLS, *plans.tools(runner), *waiting.tools(waits))
