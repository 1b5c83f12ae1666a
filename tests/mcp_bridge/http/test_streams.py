"""What goes on while an answer is awaited: changed tools, progress, cancellation, the end."""

import http.server
import json
import threading
import time
from collections.abc import Iterator
from contextlib import asynccontextmanager

import anyio
import httpx2
import pytest
from mcp.server.subscriptions import ToolsListChanged
from mcp_types import ToolListChangedNotification

from coordination.models import AgentToken
from mcp_bridge.crossing import in_database
from mcp_bridge.http import RemoteAgents, application
from mcp_bridge.http.pace import Pace
from tests.conftest import wait_until
from tests.mcp_bridge.http import minting
from tests.mcp_bridge.http.conftest import JSON, MINTING, MODERN, connected, initialize, said
from tests.serving import Site, serving

BOTH = pytest.mark.parametrize("mode", ["legacy", MODERN])


def add_session(site, key):
    return anyio.to_thread.run_sync(lambda: site.scribe(f"{MINTING}.add_session", key=key))


async def test_a_new_session_reaches_every_handshake_client(site, mint):
    heard = {"panel": anyio.Event(), "app": anyio.Event()}

    def listening(name):
        async def on_message(message):
            if isinstance(getattr(message, "root", message), ToolListChangedNotification):
                heard[name].set()

        return on_message

    with anyio.fail_after(40):
        async with (
            connected(site, mint(), mode="legacy", message_handler=listening("panel")) as one,
            connected(site, mint("app"), mode="legacy", message_handler=listening("app")) as two,
        ):
            await one.list_tools()
            await two.list_tools()
            await add_session(site, "handshakes")
            for event in heard.values():
                await event.wait()
            listed = {tool.name: tool for tool in (await one.list_tools()).tools}
            choices = listed["mf_ask"].input_schema["properties"]["to"]["enum"]
            assert "handshakes" in choices


async def test_a_new_session_reaches_every_subscriber(site, mint):
    with anyio.fail_after(40):
        async with (
            connected(site, mint(), mode=MODERN) as one,
            connected(site, mint("app"), mode=MODERN) as two,
            one.listen(tools_list_changed=True) as changes,
            two.listen(tools_list_changed=True) as others,
        ):
            await add_session(site, "subscribers")
            async for event in changes:
                assert isinstance(event, ToolsListChanged)
                break
            async for event in others:
                assert isinstance(event, ToolsListChanged)
                break


@pytest.fixture(scope="module")
def silent() -> Iterator[str]:
    """Something that takes requests and does not answer while the tests run."""
    over = threading.Event()

    class Silence(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            over.wait(60)

        def log_message(self, *_args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silence) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        over.set()
        server.shutdown()


def silent_step(site, project, silent):
    rule = {"rule": "http_get_status", "url": silent}
    _plan, (step,) = site.scribe.plan(
        project, "P", "Étape", validation_mode="artifact", validation_rule=rule, max_attempts=9
    )
    site.scribe.promote(project)
    return step


def state(site, step):
    return site.scribe(f"{MINTING}.task", task_id=step)["status"]


@BOTH
async def test_progress_is_told_and_a_cancelled_call_ends_its_validation(site, mint, silent, mode):
    project = f"progress-{'old' if mode == 'legacy' else 'new'}"
    await add_session(site, project)
    step = await anyio.to_thread.run_sync(silent_step, site, project, silent)
    told = anyio.Event()

    async def on_progress(progress, total, message):
        told.set()

    begun = time.monotonic()
    async with connected(site, mint(project), mode=mode) as client:
        async with anyio.create_task_group() as tasks:

            async def validate():
                await client.call_tool(
                    "mf_validate_step", {"task_id": step}, progress_callback=on_progress
                )

            tasks.start_soon(validate)
            with anyio.fail_after(9):
                await told.wait()
            assert await anyio.to_thread.run_sync(state, site, step) == "validating"
            tasks.cancel_scope.cancel()
        await anyio.to_thread.run_sync(
            lambda: wait_until(lambda: state(site, step) == "current", seconds=5)
        )
        assert time.monotonic() - begun < 15
        # Nothing of it is left behind: the next call of the same client is served.
        assert f"#{step}" in await said(client, "mf_next_step")
    await anyio.to_thread.run_sync(
        lambda: site.scribe("plans.services.transitions.skip_task", actor="human", task_id=step)
    )


@asynccontextmanager
async def open_stream(url, key, message):
    headers = JSON | {"Authorization": f"Bearer {key}", "MCP-Protocol-Version": MODERN}
    headers |= {"Mcp-Method": message["method"]}
    async with (
        httpx2.AsyncClient(trust_env=False, timeout=30) as client,
        client.stream("POST", url, headers=headers, json=message) as response,
    ):
        assert response.status_code == 200
        yield response


def test_a_stop_ends_open_streams_in_time_and_without_a_trace(migrated_file, tmp_path):
    for site in serving(migrated_file, tmp_path):
        key = site.scribe(f"{MINTING}.mint", session="panel")
        seconds = anyio.run(stopped_under_streams, site, key)
        assert seconds < 8
        log = site.log.read_text()
        assert "Error" not in log
        assert "Traceback" not in log
        assert key not in log


async def stopped_under_streams(site: Site, key: str) -> float:
    with anyio.fail_after(40):
        async with open_stream(f"{site.url}/mcp", key, LISTEN) as stream:
            lines = stream.aiter_lines()
            assert "acknowledged" in await anext(lines) + await anext(lines)
            headers = JSON | {"Authorization": f"Bearer {key}"}
            async with httpx2.AsyncClient(trust_env=False, headers=headers) as client:
                opened = await client.post(f"{site.url}/mcp", json=initialize())
                session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
                async with client.stream("GET", f"{site.url}/mcp", headers=session) as standing:
                    assert standing.status_code == 200
                    begun = time.monotonic()
                    site.process.terminate()
                    await anyio.to_thread.run_sync(lambda: site.process.wait(20))
                    return time.monotonic() - begun


META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
LISTEN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "subscriptions/listen",
    "params": {"notifications": {"toolsListChanged": True}, "_meta": META},
}


class Conversation:
    """One request to the application in this process, its answer as it comes."""

    def __init__(self, key, message):
        self.scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "query_string": b"",
            "headers": [
                (name.lower().encode(), value.encode())
                for name, value in (
                    JSON
                    | {"Authorization": f"Bearer {key}", "MCP-Protocol-Version": MODERN}
                    | {"Mcp-Method": message["method"]}
                ).items()
            ],
        }
        self.body = json.dumps(message).encode()
        self.sent = []
        self.came = anyio.Event()

    async def receive(self):
        if self.body is None:
            await anyio.sleep_forever()
        body, self.body = self.body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message):
        self.sent.append(message)
        self.came.set()

    @property
    def status(self):
        return self.sent[0]["status"]

    @property
    def headers(self):
        return dict(self.sent[0]["headers"])


@pytest.mark.usefixtures("sessions")
async def test_an_open_stream_ends_once_its_token_is_dead(monkeypatch):
    monkeypatch.setattr(application, "RECHECK_SECONDS", 0.02)
    key = await in_database(lambda: minting.mint(session="panel"))
    agents = RemoteAgents()
    talk = Conversation(key, LISTEN)
    with anyio.fail_after(20):
        async with agents.serving(), anyio.create_task_group() as tasks:
            tasks.start_soon(agents, talk.scope, talk.receive, talk.send)
            await talk.came.wait()
            await in_database(lambda: minting.revoke(key=key))
    assert talk.status == 200
    assert talk.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


@pytest.mark.usefixtures("sessions")
async def test_a_token_that_sends_too_much_gets_429_with_a_sentence():
    key = await in_database(lambda: minting.mint(session="panel"))
    agents = RemoteAgents(Pace(per_second=0.01, burst=2))
    list_tools = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    talks = [Conversation(key, list_tools) for _ in range(3)]
    async with agents.serving():
        for talk in talks:
            await agents(talk.scope, talk.receive, talk.send)
    assert [talk.status for talk in talks] == [200, 200, 429]
    assert int(talks[2].headers[b"retry-after"]) > 1
    assert "requêtes" in json.loads(talks[2].sent[1]["body"])["error"]["message"]


def noted():
    return AgentToken.objects.filter(last_used_at__isnull=False).exists()


@pytest.mark.usefixtures("sessions")
async def test_the_use_of_a_token_is_noted():
    key = await in_database(lambda: minting.mint(session="panel"))
    agents = RemoteAgents()
    list_tools = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    talk = Conversation(key, list_tools)
    async with agents.serving():
        await agents(talk.scope, talk.receive, talk.send)
        with anyio.fail_after(10):
            while not await in_database(noted):  # noqa: ASYNC110 - another thread writes it
                await anyio.sleep(0.01)


async def test_before_the_start_one_is_told_to_try_again():
    talk = Conversation("hda_x", LISTEN)
    await RemoteAgents()(talk.scope, talk.receive, talk.send)
    assert talk.status == 503
    assert talk.headers[b"retry-after"] == b"2"
