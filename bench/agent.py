"""Drive one MCP server process over its pipes, byte by byte: no client library in between."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from bench.database import OWN_VARIABLES, PROJECT, variables_of

RUNMCP = (sys.executable, str(PROJECT / "manage.py"), "runmcp")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool answered."""

    text: str
    is_error: bool


class Gone(Exception):
    """The process closed its output."""


class Agent:
    """One server process and the client's side of its conversation."""

    def __init__(
        self,
        session: str = "",
        *,
        database: Path | None = None,
        command: tuple[str, ...] = RUNMCP,
        variables: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        """Start it; `options` go to Popen."""
        given = {"MCP_SESSION_ID": session, **(variables or {})}
        if database is not None:
            given |= variables_of(database) | {"HANDOFF_DATA_DIR": str(database.parent)}
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(OWN_VARIABLES)}
        defaults = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, env=inherited | given, **(defaults | options))
        self.notifications: list[dict[str, Any]] = []
        self._answers: dict[int | str | None, dict[str, Any]] = {}
        self._buffer = b""
        self._last_id = 0

    def __enter__(self) -> Self:
        """Give the agent to a with statement."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Leave no process behind."""
        self.kill()

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self.process.pid

    def send(self, message: dict[str, Any] | bytes) -> None:
        """Send one message, or bytes as they are."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._fd(self.process.stdin), rest) :]

    def receive(self, *, seconds: float = 30) -> dict[str, Any]:
        """Return the next message.

        Raises:
            TimeoutError: there is none in time. Gone: the output ended.
        """
        deadline = time.monotonic() + seconds
        source = self._fd(self.process.stdout)
        while b"\n" not in self._buffer:
            if not select.select([source], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"no message within {seconds} s")
            chunk = os.read(source, 65536)
            if not chunk:
                raise Gone
            self._buffer += chunk
        line, _newline, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def ask(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Send a request and return its id."""
        self._last_id += 1
        request = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params or {}}
        self.send(request)
        return self._last_id

    def answer_to(self, request_id: int | str, *, seconds: float = 30) -> dict[str, Any]:
        """Return the answer to a request; keep what comes before it."""
        deadline = time.monotonic() + seconds
        while request_id not in self._answers:
            message = self.receive(seconds=max(0.0, deadline - time.monotonic()))
            if "method" in message:
                self.notifications.append(message)
            else:
                self._answers[message["id"]] = message
        return self._answers.pop(request_id)

    def request(
        self, method: str, params: dict[str, Any] | None = None, *, seconds: float = 30
    ) -> dict[str, Any]:
        """Send a request and return its answer."""
        return self.answer_to(self.ask(method, params), seconds=seconds)

    def initialize(self, *, version: str = "2025-11-25", seconds: float = 30) -> Self:
        """Shake hands."""
        client = {"name": "bench", "version": "1"}
        self.request(
            "initialize",
            {"protocolVersion": version, "capabilities": {}, "clientInfo": client},
            seconds=seconds,
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def call(self, name: str, /, *, seconds: float = 30, **arguments: Any) -> Reply:
        """Call a tool."""
        answer = self.request("tools/call", {"name": name, "arguments": arguments}, seconds=seconds)
        if "error" in answer:
            raise AssertionError(f"{name}: protocol error {answer['error']}")
        result = answer["result"]
        return Reply(result["content"][0]["text"], result.get("isError", False))

    def close(self, *, seconds: float = 10) -> int:
        """End its input and return its exit status."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        return self.process.wait(seconds)

    def kill(self) -> None:
        """End it at once."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    @staticmethod
    def _fd(pipe: Any) -> int:
        fd: int = pipe.fileno()
        return fd


def crowd(count: int, database: Path, *, together: int = 8) -> Iterator[Agent]:
    """Start many agents, a few at a time: starting is the costly part. Yield each once it serves.

    The caller ends them; if one does not start, those that did not serve yet are ended here.
    """
    left = count
    while left:
        batch = [
            Agent(("panel", "app")[n % 2], database=database) for n in range(min(together, left))
        ]
        left -= len(batch)
        try:
            while batch:
                batch[0].initialize(seconds=300)
                yield batch.pop(0)
        finally:
            for agent in batch:
                agent.kill()
