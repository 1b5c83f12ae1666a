"""The yardstick: the SDK's own server with one echo tool, and nothing of ours."""

from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

ECHO = Tool(
    name="echo",
    description="Return the text",
    input_schema={
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
)


async def list_tools(_context: Any, _params: PaginatedRequestParams | None) -> ListToolsResult:
    """List the one tool."""
    return ListToolsResult(tools=[ECHO])


async def call_tool(_context: Any, params: CallToolRequestParams) -> CallToolResult:
    """Return the text."""
    text = str((params.arguments or {})["text"])
    return CallToolResult(content=[TextContent(type="text", text=text)])


async def main() -> None:
    """Serve over standard input and output."""
    server: Server[Any] = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
