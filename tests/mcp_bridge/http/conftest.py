"""A site on a real port, and the SDK's own HTTP client as its agents."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.serving import Site, serving

MINTING = "tests.mcp_bridge.http.minting"
JSON = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"


def initialize(version: str = "2025-11-25") -> dict[str, Any]:
    """Return the message that opens an MCP session."""
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


@pytest.fixture(scope="package")
def site(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One site for all these tests; nothing that a rule may run in."""
    yield from serving(migrated_file, tmp_path_factory.mktemp("remote"))


@pytest.fixture(scope="package")
def mint(site: Site) -> Callable[..., str]:
    """Make a token for a session and return its key."""

    def minted(session: str = "panel") -> str:
        key: str = site.scribe(f"{MINTING}.mint", session=session)
        return key

    return minted


@pytest.fixture(scope="package")
def panel(mint: Callable[..., str]) -> str:
    """Return a token for panel."""
    return mint("panel")


def asked(url: str, key: str, message: Any, **headers: str) -> httpx2.Response:
    """Post one message, without the SDK; `headers` names use underscores."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    content = message if isinstance(message, bytes) else None
    with httpx2.Client(trust_env=False, timeout=30) as client:
        return client.post(
            f"{url}/mcp",
            headers=JSON | ({"Authorization": f"Bearer {key}"} if key else {}) | given,
            content=content,
            json=None if content is not None else message,
        )


@asynccontextmanager
async def connected(site: Site, key: str, *, mode: str = "auto", **more: Any) -> AsyncIterator[Any]:
    """Yield the SDK's client, connected under a token."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as http,
        Client(
            streamable_http_client(f"{site.url}/mcp", http_client=http), mode=mode, **more
        ) as client,
    ):
        yield client


async def said(client: Any, tool: str, /, **arguments: Any) -> str:
    """Call a tool and return its text."""
    result = await client.call_tool(tool, arguments)
    (block,) = result.content
    text: str = block.text
    return text
