"""Several web processes and a Redis that comes and goes: every board is told, once each."""

import asyncio
import contextlib
import json
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import websockets

from tests.conftest import skip_or_fail, wait_until
from tests.serving import Site, free_port

pytestmark = pytest.mark.services

ASK = "coordination.services.messages.ask"


class Redis:
    """A Redis of the test's own, which keeps nothing: it may be killed."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--save", "", "--bind", "127.0.0.1"],
            stdout=subprocess.DEVNULL,
        )
        wait_until(self.answers, what="redis answers")

    def answers(self) -> bool:
        command = ["redis-cli", "-p", str(self.port), "ping"]
        return b"PONG" in subprocess.run(command, capture_output=True).stdout

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(10)


@pytest.fixture
def redis() -> Iterator[Redis]:
    if not shutil.which("redis-server"):
        skip_or_fail("needs Redis (Debian's package redis-server)")
    server = Redis()
    yield server
    server.process.send_signal(signal.SIGCONT)
    server.kill()


@pytest.fixture
def sites(redis: Redis, database_file: Path) -> Iterator[tuple[Site, Site]]:
    with contextlib.ExitStack() as stack:
        both = []
        for _number in range(2):
            site = Site(database_file, REDIS_URL=redis.url)
            stack.callback(site.stop)
            both.append(site)
        yield both[0], both[1]


def board(site: Site, cookie: str):
    return websockets.connect(
        f"ws://127.0.0.1:{site.port}/ws/board?last=0",
        additional_headers={"Cookie": f"handoff_session={cookie}"},
        origin=site.url,
        open_timeout=10,
    )


async def heard(socket, last: int, *, seconds: float = 5) -> list[dict]:
    """Return what the socket says until it has told event `last`."""
    messages: list[dict] = []
    async with asyncio.timeout(seconds):
        while not messages or messages[-1].get("last") != last:
            messages.append(json.loads(await socket.recv()))
    return messages


async def ask(site: Site, subject: str) -> int:
    """Write from another process; return the event's id."""
    await asyncio.to_thread(site.scribe, ASK, actor="panel", to="app", subject=subject, body="x")
    return await asyncio.to_thread(site.scribe, "coordination.selectors.events.last_event_id")


async def test_two_web_processes_on_one_redis_tell_each_board_once(
    sites: tuple[Site, Site],
) -> None:
    cookie = sites[0].scribe("sign_in", username="admin")
    async with board(sites[0], cookie) as here, board(sites[1], cookie) as there:
        for socket in (here, there):
            await socket.recv()  # what happened before
        last = [await ask(sites[0], f"Told {number}") for number in range(5)][-1]
        for socket in (here, there):
            told = Counter(message["last"] for message in await heard(socket, last))
            assert set(told.values()) == {1}
            assert len(told) <= 5
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(socket.recv(), 0.5)  # nothing comes twice


async def test_boards_stay_live_while_redis_is_away_and_after(
    sites: tuple[Site, Site], redis: Redis
) -> None:
    cookie = sites[0].scribe("sign_in", username="admin")
    async with board(sites[0], cookie) as here, board(sites[1], cookie) as there:
        for socket in (here, there):
            await socket.recv()

        redis.kill()
        last = await ask(sites[0], "While Redis is away")
        for socket in (here, there):
            await heard(socket, last)
        async with board(sites[0], cookie) as late:  # a page may open meanwhile too
            await late.recv()
            last = await ask(sites[0], "Still away")
            await heard(late, last)

        await asyncio.to_thread(redis.start)
        last = await ask(sites[0], "Back, and it forgot everything")
        for socket in (here, there):
            await heard(socket, last)
    for site in sites:
        assert "Traceback" not in site.log.read_text()
        assert "Exception in ASGI" not in site.log.read_text()


async def test_a_redis_that_hangs_stops_no_board(sites: tuple[Site, Site], redis: Redis) -> None:
    cookie = sites[0].scribe("sign_in", username="admin")
    async with board(sites[0], cookie) as here:
        await here.recv()
        redis.process.send_signal(signal.SIGSTOP)
        last = await ask(sites[0], "Redis does not answer")
        await heard(here, last, seconds=15)
        redis.process.send_signal(signal.SIGCONT)
        last = await ask(sites[0], "Redis goes on")
        await heard(here, last, seconds=15)
