"""MCP over Streamable HTTP, for agents on other machines."""

from mcp_bridge.http.application import RemoteAgents

__all__ = ["RemoteAgents"]
