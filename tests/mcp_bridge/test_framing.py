"""Raw bytes: what is no message costs one error reply, never the session."""

import json
import subprocess
import sys

import pytest

from bench.agent import PROJECT, Agent
from tests.conftest import clean_environment
from tests.databases import copied

PING = b'{"jsonrpc":"2.0","id":"after","method":"ping"}\n'
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}


@pytest.fixture(scope="module")
def agent(migrated_file, tmp_path_factory):
    with (
        copied(migrated_file, tmp_path_factory.mktemp("framing")) as database,
        Agent("panel", database=database) as agent,
    ):
        yield agent.initialize()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"pi', -32700),
        (b"not json", -32700),
        (b'{"jsonrpc":"2.0","id":' + b"1" * 5000 + b',"method":"ping"}', -32700),
        (b"[" * 300 + b"]" * 300, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}', -32700),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        (b'{"jsonrpc":"1.0","method":"ping"}', -32600),
        (b'{"id":{},"method":5}', -32600),
        (b'{"jsonrpc":"2.0"}', -32600),
        (b'"text"', -32600),
        (b"12", -32600),
        (b"null", -32600),
        (b"x" * (5 * 1024 * 1024), -32600),
    ],
    ids=lambda value: str(value[:40]) if isinstance(value, bytes) else str(value),
)
def test_a_bad_line_gets_one_error_and_the_next_is_served(agent, line, code):
    agent.send(line + b"\n" + PING)
    refused = agent.receive()
    assert refused["error"]["code"] == code
    assert refused["id"] is None
    assert agent.receive() == {"jsonrpc": "2.0", "id": "after", "result": {}}


def test_a_request_that_names_itself_is_refused_under_its_id(agent):
    agent.send(b'{"jsonrpc":"2.0","id":77,"method":"ping","params":[]}\n')
    refused = agent.receive()
    assert (refused["id"], refused["error"]["code"]) == (77, -32600)


@pytest.mark.parametrize("request_id", ["7", 0, -1, 2**53, "é"])
def test_ids_come_back_with_their_type(agent, request_id):
    agent.send({"jsonrpc": "2.0", "id": request_id, "method": "ping"})
    answer = agent.receive()
    assert answer["id"] == request_id
    assert type(answer["id"]) is type(request_id)


def test_blank_lines_and_line_ends_of_both_kinds_are_no_matter(agent):
    agent.send(b"\n\r\n  \n" + PING.replace(b"\n", b"\r\n"))
    assert agent.receive()["id"] == "after"


def test_a_call_without_id_is_not_answered(agent):
    call = {"name": "mf_inbox", "arguments": {}}
    agent.send({"jsonrpc": "2.0", "method": "tools/call", "params": call})
    agent.send(PING)
    assert agent.receive()["id"] == "after"


@pytest.mark.parametrize("arguments", ['["app"]', '"text"', "5", "null", '{"to":{"a":1}}'])
def test_arguments_of_any_shape_get_a_sentence_not_a_protocol_error(agent, arguments):
    call = '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"mf_ask","arguments":'
    agent.send(f"{call}{arguments}}}}}\n".encode())
    result = agent.receive()["result"]
    assert result["isError"]
    assert result["content"][0]["text"].startswith(("Erreur: arguments", "Champs requis: "))


@pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": None, "arguments": {}}])
def test_a_call_without_a_tool_gets_the_list_of_tools(agent, params):
    agent.send({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params})
    assert "mf_ask, " in agent.receive()["result"]["content"][0]["text"]


def test_half_a_surrogate_pair_and_bytes_that_are_no_text_cost_a_character(agent):
    for body in (b"a\\ud800b", b"a\xffb"):
        agent.send(
            b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"mf_ask",'
            b'"arguments":{"to":"app","subject":"Q","body":"%s"}}}\n' % body
        )
        assert not agent.receive()["result"].get("isError")


def test_a_large_body_and_a_large_answer_pass_whole(agent):
    body = "é" * 90_000
    number = agent.call("mf_ask", to="app", subject="Q", body=body).text.split()[2].strip("#")
    assert agent.call("mf_thread", message_id=number).text.endswith(body)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25", "1999-01-01"])
def test_every_handshake_version_is_served_and_an_unknown_one_gets_ours(start, version):
    agent = start()
    client = {"name": "t", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    answer = agent.request("initialize", params)
    expected = version if version.startswith("202") else "2025-11-25"
    assert answer["result"]["protocolVersion"] == expected


def test_a_byte_order_mark_and_carriage_returns_are_tolerated(start):
    agent = start()
    agent.send(b"\xef\xbb\xbf" + json.dumps(INITIALIZE).encode() + b"\r\n")
    assert agent.receive()["result"]["serverInfo"]["name"] == "handoff"


def test_a_whole_conversation_can_come_from_a_file(database_file, tmp_path):
    conversation = tmp_path / "in.jsonl"
    call = {"name": "mf_ask", "arguments": {"to": "app", "subject": "Q", "body": "b"}}
    messages = [
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": call} for n in (2, 3)),
    ]
    # The last line has no end.
    conversation.write_text("\n".join(json.dumps(message) for message in messages))
    with conversation.open() as source:
        done = subprocess.run(
            [sys.executable, PROJECT / "manage.py", "runmcp"],
            stdin=source,
            capture_output=True,
            timeout=30,
            env=clean_environment(MCP_HANDOFF_DB=str(database_file), MCP_SESSION_ID="panel"),
        )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == [1, 2, 3]  # two calls under way at once
    assert done.returncode == 0
