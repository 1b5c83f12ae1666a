"""JSON-RPC over the wire, one message a line, for the SDK's server loop.

The SDK's own stdio transport drops a line that it cannot read, so that its sender waits for
ever, and on end of input cancels the calls still running. This one answers every bad line and
lets the replies in flight go out first.
"""

import codecs
import json
import os
import select
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
from mcp.shared._context_streams import (
    ContextReceiveStream,
    ContextSendStream,
    create_context_streams,
)
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import from_json

from mcp_bridge.wire import Wire

MAX_LINE = 4 * 1024 * 1024
"""Bytes in one message: the longest body, escaped, several times over."""
GRACE_SECONDS = 3.8
"""How long the replies in flight may take once the input has ended."""
ATOMIC_WRITE = select.PIPE_BUF
"""Bytes that a pipe reported writable takes without blocking."""

Streams = tuple[ContextReceiveStream[SessionMessage | Exception], ContextSendStream[SessionMessage]]


class BadLineError(Exception):
    """A line that holds no JSON-RPC message."""

    def __init__(self, code: int, message: str, request_id: RequestId | None = None) -> None:
        super().__init__(message)
        error = ErrorData(code=code, message=message)
        self.reply = JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


class Stdio:
    """The client at the other end of the wire."""

    def __init__(self, wire: Wire, *, on_end: Callable[[], Awaitable[None]]) -> None:
        """Prepare to serve; `on_end` is awaited when no further message will be read."""
        self._wire = wire
        self._on_end = on_end
        self._reading = anyio.CancelScope()
        self._writing = anyio.Lock(fast_acquire=True)
        self._writable = select.poll()
        self._writable.register(wire.output, select.POLLOUT)
        self._in_flight: Counter[tuple[type, RequestId]] = Counter()
        self._answered = anyio.Event()

    def stop(self) -> None:
        """Read no further message; those that came are still answered."""
        self._reading.cancel()

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[Streams]:
        """Yield the two ends that the SDK's server loop takes."""
        incoming, read = create_context_streams[SessionMessage | Exception](0)
        write, outgoing = create_context_streams[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._receive, incoming)
            tasks.start_soon(self._send, outgoing)
            yield read, write

    async def _receive(self, incoming: ContextSendStream[SessionMessage | Exception]) -> None:
        """Hand over each message; at the end, hold the end back until all are answered."""
        async with incoming:
            with self._reading:
                async for line in lines(self._wire.input):
                    await self._take(line, incoming)
            with anyio.move_on_after(GRACE_SECONDS):
                await self._on_end()
                while self._in_flight:
                    self._answered = anyio.Event()
                    await self._answered.wait()

    async def _take(
        self, line: bytes | None, incoming: ContextSendStream[SessionMessage | Exception]
    ) -> None:
        try:
            message = parse(line)
        except BadLineError as bad:
            await self._write(bad.reply)
            return
        if message is None:
            return
        if not isinstance(message, JSONRPCRequest):
            await incoming.send(SessionMessage(message))
            return
        key = _key(message.id)

        async def unanswered() -> None:
            self._settle(key)

        self._in_flight[key] += 1
        metadata = ServerMessageMetadata(on_request_unanswered=unanswered)
        await incoming.send(SessionMessage(message, metadata))

    async def _send(self, outgoing: ContextReceiveStream[SessionMessage]) -> None:
        async with outgoing:
            async for item in outgoing:
                await self._write(item.message)
                if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                    self._settle(_key(item.message.id))

    def _settle(self, key: tuple[type, RequestId]) -> None:
        """Count a request as answered, or as one that its sender has cancelled."""
        self._in_flight[key] -= 1
        if self._in_flight[key] <= 0:
            del self._in_flight[key]
        self._answered.set()

    async def _write(self, message: JSONRPCMessage) -> None:
        """Write one line; a client that has gone ends the service."""
        data = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        try:
            async with self._writing:
                if len(data) <= ATOMIC_WRITE and self._writable.poll(0):
                    write_all(self._wire.output, data)
                else:
                    await anyio.to_thread.run_sync(
                        write_all, self._wire.output, data, abandon_on_cancel=True
                    )
        except OSError:
            self._in_flight.clear()
            self._answered.set()
            self.stop()


def parse(line: bytes | None) -> JSONRPCMessage | None:
    """Return the message of a line, or None for a blank one; None as a line is one too long.

    Raises:
        BadLineError: it holds no message; carries the reply.
    """
    if line is None:
        raise BadLineError(INVALID_REQUEST, f"A message takes {MAX_LINE} bytes at most")
    text = line.removeprefix(codecs.BOM_UTF8).strip()
    if not text:
        return None
    value = _json(text)
    if not isinstance(value, dict):
        raise BadLineError(INVALID_REQUEST, "Send one JSON-RPC object per line; no batches")
    try:
        if "method" not in value:
            return jsonrpc_message_adapter.validate_python(value, by_name=False)
        model = JSONRPCRequest if "id" in value else JSONRPCNotification
        return model.model_validate(value, by_name=False)
    except ValidationError:
        found = value.get("id")
        request_id = found if type(found) in (int, str) and "method" in value else None
        raise BadLineError(
            INVALID_REQUEST,
            "Not a JSON-RPC 2.0 message: check jsonrpc, method, params (an object) and id "
            "(a string or a whole number)",
            request_id,
        ) from None


def _json(text: bytes) -> object:
    """Decode JSON; half a surrogate pair or bytes that are not UTF-8 cost a `?`, not the line."""
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        pass
    try:
        lenient = json.loads(text.decode("utf-8", "replace"))
        clean = json.dumps(lenient, ensure_ascii=False).encode("utf-8", "replace")
        return from_json(clean, allow_inf_nan=False)
    except (ValueError, RecursionError):
        raise BadLineError(PARSE_ERROR, "Not valid JSON") from None


async def lines(fd: int) -> AsyncIterator[bytes | None]:
    """Yield each line; None for one longer than `MAX_LINE`, whose bytes are not kept."""
    buffer = bytearray()
    too_long = False
    while chunk := await _read(fd):
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            buffer += part
            yield None if too_long or len(buffer) > MAX_LINE else bytes(buffer)
            buffer.clear()
            too_long = False
        buffer += rest
        if too_long or len(buffer) > MAX_LINE:
            too_long = True
            buffer.clear()
    if buffer or too_long:
        yield None if too_long else bytes(buffer)


async def _read(fd: int) -> bytes:
    """Return the next bytes, or none at the end; pipes, sockets, terminals and files alike."""
    while True:
        try:
            await anyio.wait_readable(fd)
        except PermissionError:  # a regular file: it never blocks and cannot be waited for
            await anyio.lowlevel.checkpoint()
        try:
            return os.read(fd, 65536)
        except BlockingIOError:
            continue
        except OSError:  # a terminal or a socket whose other end went away
            return b""


def write_all(fd: int, data: bytes) -> None:
    """Write every byte, waiting for room where the pipe was made non-blocking."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            select.select([], [fd], [])


def _key(request_id: RequestId | None) -> tuple[type, RequestId]:
    """Tell the id 7 from the id "7"."""
    return type(request_id), request_id if request_id is not None else ""
