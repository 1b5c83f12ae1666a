"""The socket admits this site's signed-in pages only, and survives whatever they send."""

import asyncio
import json

import httpx
import pytest
import websockets

from tests.serving import Site

ASK = "coordination.services.messages.ask"
BAD_FRAMES = (
    "{", "[" * 5000, b"\xff\x00", "null", '{"type": "feed.advanced"}', '{"draw": null}',
    '{"draw": "questions"}', '{"draw": [null, 7, ["questions"], {}]}',
    '{"draw": ["task-x\\u0000"]}',
    json.dumps({"draw": ["q" * 60_000]}), json.dumps({"draw": ["step-" + "9" * 90] * 500}),
)  # fmt: skip


def connect(
    site: Site, *, cookie: str = "", origin: str | None = None, host: str = "", last=0, headers=()
):
    headers = dict(headers)
    if cookie:
        headers["Cookie"] = f"handoff_session={cookie}"
    if host:
        headers["Host"] = host
    return websockets.connect(
        f"ws://127.0.0.1:{site.port}/ws/board?last={last}",
        additional_headers=headers,
        origin=origin if origin is not None else site.url,
        open_timeout=10,
    )


@pytest.fixture
def cookie(site: Site) -> str:
    return site.scribe("sign_in", username="admin")


async def told(socket, fragment: str) -> dict:
    """Wait until the socket names `fragment`."""
    async with asyncio.timeout(5):
        while True:
            message = json.loads(await socket.recv())
            if fragment in message.get("fragments", []):
                return message


@pytest.mark.parametrize(
    "origin",
    ["http://127.0.0.1.evil.example", "null", "", "https://127.0.0.1:{port}", "http://127.0.0.1:1"],
)
async def test_a_foreign_origin_is_refused(site: Site, cookie: str, origin: str) -> None:
    with pytest.raises(websockets.InvalidStatus) as refused:
        async with connect(site, cookie=cookie, origin=origin.format(port=site.port)):
            pass
    assert refused.value.response.status_code == 403


async def test_a_foreign_host_is_refused(site: Site, cookie: str) -> None:
    with pytest.raises(websockets.InvalidStatus):
        async with connect(site, cookie=cookie, host="evil.example", origin="http://evil.example"):
            pass


async def test_a_stranger_is_refused(site: Site) -> None:
    with pytest.raises(websockets.InvalidStatus):
        async with connect(site, cookie="nobody"):
            pass


async def test_a_token_opens_no_socket(site: Site, cookie: str) -> None:
    api_key = site.scribe("tests.services.agent_key.make_api_key", username="admin")
    agent_key = site.scribe("tests.services.agent_key.make", session="panel")
    bearer = {"Authorization": f"Bearer {api_key}"}
    async with httpx.AsyncClient(base_url=site.url, headers=bearer) as elsewhere:
        assert (await elsewhere.get("/api/board")).status_code == 200
    for key in (api_key, agent_key):
        with pytest.raises(websockets.InvalidStatus) as refused:
            async with connect(site, headers={"Authorization": f"Bearer {key}"}):
                pass
        assert refused.value.response.status_code == 403
        with pytest.raises(websockets.InvalidStatus):
            async with connect(site, cookie=key):
                pass


async def test_bad_frames_change_nothing(site: Site, cookie: str) -> None:
    async with connect(site, cookie=cookie) as socket:
        for frame in BAD_FRAMES:
            await socket.send(frame)
        site.scribe(ASK, actor="panel", to="app", subject="After bad frames", body="x")
        await told(socket, "questions")
    assert "Traceback" not in site.log.read_text()


async def test_a_socket_resumes_after_its_last_event(site: Site, cookie: str) -> None:
    last = site.scribe("coordination.selectors.events.last_event_id")
    site.scribe(ASK, actor="panel", to="app", subject="Missed", body="x")
    async with connect(site, cookie=cookie, last=last) as socket:
        message = json.loads(await socket.recv())
        assert "questions" in message["fragments"]
        assert message["last"] == last + 1


async def test_an_unusable_last_event_draws_everything_again(site: Site, cookie: str) -> None:
    async with connect(site, cookie=cookie, last="x") as socket:
        assert json.loads(await socket.recv()) == {"refresh": True}


async def test_a_socket_that_does_not_read_slows_nobody(site: Site, cookie: str) -> None:
    async with connect(site, cookie=cookie), connect(site, cookie=cookie) as quick:
        for number in range(300):
            site.scribe(ASK, actor="panel", to="app", subject=f"Storm {number}", body="x")
        last = site.scribe("coordination.selectors.events.last_event_id")
        async with asyncio.timeout(10):
            while json.loads(await quick.recv()).get("last") != last:
                pass


async def test_two_web_processes_on_one_database_both_tell(
    site: Site, cookie: str, tmp_path
) -> None:
    other = Site(site.log.parent / "handoff.sqlite")
    try:
        async with connect(site, cookie=cookie) as here, connect(other, cookie=cookie) as there:
            site.scribe(ASK, actor="panel", to="app", subject="Told twice", body="x")
            await told(here, "questions")
            await told(there, "questions")
    finally:
        other.stop()
