"""Any bytes at all on standard input: the process goes on, and says nothing but JSON-RPC.

A few seconds here; `make fuzz` gives it five minutes.
"""

import itertools
import json
import os
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_types import jsonrpc_message_adapter

from bench.agent import Agent

SECONDS = float(os.environ.get("HANDOFF_FUZZ_SECONDS", "0"))
"""How long each kind of conversation is tried; without it, as few examples as a test may take."""
EXAMPLES = 40
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
METHODS = (
    "initialize", "notifications/initialized", "notifications/cancelled", "ping", "tools/list",
    "tools/call", "server/discover", "subscriptions/listen", "resources/list", "prompts/get",
    "completion/complete", "logging/setLevel", "rpc.discover", "",
)  # fmt: skip
TOOLS = (
    "mf_ask", "mf_broadcast", "mf_inbox", "mf_answer", "mf_close", "mf_history", "mf_thread",
    "mf_health", "mf_next_step", "mf_validate_step", "mf_block_step",
)  # fmt: skip
NAMES = (
    "to", "subject", "body", "status", "limit", "message_id", "task_id", "proof", "reason",
    "subject_contains", "from_session", "to_session", "name", "arguments", "requestId", "_meta",
    "protocolVersion", "capabilities", "clientInfo", "progressToken", "notifications", "cursor",
)  # fmt: skip

odd = st.sampled_from(
    [None, True, 0, -1, 1.5, 1e308, 2**53, 2**70, 10**400, "", "é", "\x00", "\ud800", "12", "app",
     "panel", "human", "open", "2025-11-25", "2026-07-28", "a" * 70_000, [], {}, META]
)  # fmt: skip
values = st.recursive(
    st.one_of(odd, st.text(max_size=20), st.integers(), st.floats()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), inner, max_size=4),
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from(NAMES), values, max_size=6)
calls = st.fixed_dictionaries(
    {"name": st.sampled_from(TOOLS) | values, "arguments": objects | values},
    optional={"_meta": st.just(META) | values},
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "2.0", "2.0", "1.0", 2]),
        "id": st.integers(0, 20) | values,
        "method": st.sampled_from(METHODS) | st.just("tools/call") | values,
        "params": calls | objects | values,
        "result": values,
        "error": values,
    },
)
texts = (messages | values).map(lambda value: json.dumps(value).encode())
nests = st.tuples(st.sampled_from([b"[", b'{"a":']), st.integers(1, 100_000)).map(
    lambda pair: pair[0] * pair[1]
)


@st.composite
def damaged(draw):
    """A message with bytes cut out, doubled or put in."""
    data = draw(texts)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 9)))
        piece = draw(st.sampled_from([b"", data[start:end] * 2]) | st.binary(max_size=4))
        data = data[:start] + piece + data[end:]
    return data


lines = st.lists(
    st.tuples(
        texts | damaged() | st.binary(max_size=200) | nests,
        st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\x00", b"", b"\n\n"]),
    ),
    min_size=1,
    max_size=6,
).map(lambda pairs: b"".join(itertools.chain.from_iterable(pairs)))


class Talker:
    """An agent's process, and what it answered so far."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.tried = 0
        self.answers = 0

    def survives(self, data: bytes) -> None:
        """Send bytes, then a request; read JSON-RPC until the request is answered."""
        self.tried += 1
        last = f"after {self.tried}"
        self.agent.send(data)
        self.agent.send(b"\n")
        self.agent.send({"jsonrpc": "2.0", "id": last, "method": "ping"})
        while True:
            message = self.agent.receive(seconds=30)
            jsonrpc_message_adapter.validate_python(message, by_name=False)
            self.answers += 1
            if message.get("id") == last:
                return


def opened(start, kind: str) -> Agent:
    agent: Agent = start("panel")
    if kind == "handshake":
        agent.initialize()
    elif kind == "2026-07-28":
        agent.request("server/discover", {"_meta": META})
    return agent


@pytest.mark.timeout(SECONDS + 120)
@pytest.mark.parametrize("kind", ["unopened", "handshake", "2026-07-28"])
def test_no_bytes_end_the_process_or_draw_what_is_no_json_rpc(start, kind):
    talker = Talker(opened(start, kind))

    @settings(
        max_examples=EXAMPLES if not SECONDS else 200,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(lines)
    def holds(data):
        talker.survives(data)

    until = time.monotonic() + SECONDS
    holds()
    while time.monotonic() < until:
        holds()
    print(f"{kind}: {talker.tried} inputs, {talker.answers} messages back")  # noqa: T201
    assert talker.agent.process.poll() is None
    assert talker.agent.close() == 0
