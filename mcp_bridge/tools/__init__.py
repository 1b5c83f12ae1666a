"""The tools: one module per app, one list of all."""

from mcp_bridge.tools import coordination

TOOLS = (*coordination.TOOLS,)
