"""A door before the site, for a suite that knows no tokens and calls tools of its own."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import uvicorn

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
OF_ONE_HOP = {b"connection", b"transfer-encoding", b"keep-alive", b"content-length"}


@dataclass(frozen=True, slots=True)
class Stand:
    """One of our tools that does what a tool of the suite's own test server would do."""

    tool: str
    arguments: Mapping[str, Any]
    first: Callable[[], object] = lambda: None
    """Done before the call is passed on."""


class Door:
    """Pass each request on under a token, and each answer back as it comes."""

    def __init__(
        self, client: httpx2.AsyncClient, url: str, key: str, stands: Mapping[str, Stand]
    ) -> None:
        self._client = client
        self._url = url
        self._token = (b"authorization", f"Bearer {key}".encode())
        self._stands = stands

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Serve one request; one whose sender goes away is ended on the other side too."""
        body, more = b"", True
        while more:
            part = await receive()
            body, more = body + part.get("body", b""), part.get("more_body", False)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._until_gone, receive, tasks.cancel_scope)
            await self._pass_on(scope, body, send)
            tasks.cancel_scope.cancel()

    async def _pass_on(self, scope: dict[str, Any], body: bytes, send: Send) -> None:
        headers = [pair for pair in scope["headers"] if pair[0] not in OF_ONE_HOP]
        if stand := self._stand_for(body):
            await anyio.to_thread.run_sync(stand.first)
            body = replaced(body, stand)
            name = stand.tool.encode()
            headers = [(k, name if k == b"mcp-name" else value) for k, value in headers]
        request = self._client.build_request(
            scope["method"],
            self._url + scope["path"],
            headers=[*headers, self._token],
            content=body,
        )
        answer = await self._client.send(request, stream=True)
        given = [pair for pair in answer.headers.raw if pair[0].lower() not in OF_ONE_HOP]
        start = {"type": "http.response.start", "status": answer.status_code, "headers": given}
        await send(start)
        async for piece in answer.aiter_raw():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        await answer.aclose()

    def _stand_for(self, body: bytes) -> Stand | None:
        try:
            message = json.loads(body)
            return self._stands.get(message["params"]["name"])
        except (ValueError, KeyError, TypeError):
            return None

    async def _until_gone(self, receive: Receive, answer: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        answer.cancel()


def replaced(body: bytes, stand: Stand) -> bytes:
    """Return a call of the suite's tool as a call of ours."""
    message = json.loads(body)
    message["params"] |= {"name": stand.tool, "arguments": dict(stand.arguments)}
    return json.dumps(message).encode()


@asynccontextmanager
async def opened(url: str, key: str, port: int, stands: Mapping[str, Stand]) -> AsyncIterator[str]:
    """Serve a door on a port of this machine; yield the address of MCP behind it."""
    async with (
        httpx2.AsyncClient(trust_env=False, timeout=None) as client,
        anyio.create_task_group() as tasks,
    ):
        config = uvicorn.Config(
            Door(client, url, key, stands),
            port=port,
            lifespan="off",
            log_level="critical",
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        tasks.start_soon(server.serve)
        while not server.started:  # noqa: ASYNC110 - it has no event for that
            await anyio.sleep(0.01)
        yield f"http://localhost:{port}/mcp"
        server.should_exit = True
