"""An address is asked once, directly, for its status line only, within ten seconds."""

import asyncio
import contextlib
import time

import pytest

from plans.rules import HttpGetStatus
from plans.runner import artifact
from plans.runner.artifact import run_artifact
from plans.runner.folder import NO_FOLDER
from tests.plans.runner.running import check


@contextlib.asynccontextmanager
async def serving(answer):
    """A server on the loopback that handles each connection with `answer(reader, writer)`."""
    connections = []

    async def handle(reader, writer):
        connections.append(await reader.readuntil(b"\r\n\r\n"))
        with contextlib.suppress(ConnectionError):
            await answer(reader, writer)
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/", connections
    finally:
        server.close()


def replying(text: str):
    async def answer(_reader, writer):
        writer.write(text.encode())
        await writer.drain()

    return answer


def get(url, status=200):
    return {"rule": "http_get_status", "url": url, "status": status}


async def test_expected_status_passes(tmp_path):
    async with serving(replying("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")) as (
        url,
        seen,
    ):
        outcome = await check(tmp_path, get(url))
    assert outcome.passed
    assert outcome.evidence.startswith(f"http_get_status {url}: status 200 in ")
    assert "secret" not in outcome.evidence
    assert len(seen) == 1


async def test_other_status_fails_and_is_named(tmp_path):
    async with serving(replying("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")) as (url, _):
        outcome = await check(tmp_path, get(url))
    assert outcome.error == f"http_get_status {url}: status 503, expected 200"


async def test_redirect_is_never_followed(tmp_path):
    async with serving(replying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) as (target, asked):
        moved = f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n"
        async with serving(replying(moved)) as (url, _):
            assert not (await check(tmp_path, get(url))).passed
            assert (await check(tmp_path, get(url, 302))).passed
    assert asked == []


async def test_dead_proxy_does_not_matter(tmp_path, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with serving(replying("HTTP/1.1 204 OK\r\n\r\n")) as (url, _):
        assert (await check(tmp_path, get(url, 204))).passed


async def test_body_without_end_is_not_read(tmp_path):
    async def endless(_reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            await writer.drain()

    started = time.monotonic()
    async with serving(endless) as (url, _):
        assert (await check(tmp_path, get(url))).passed
    assert time.monotonic() - started < 3


@pytest.mark.parametrize("first", ["HTTP/1.1 200 OK\r\n", ""])
async def test_dripping_headers_run_out_of_time(tmp_path, monkeypatch, first):
    monkeypatch.setattr(artifact, "HTTP_SECONDS", 1.0)

    async def drip(_reader, writer):
        writer.write(first.encode())
        while True:
            writer.write(b"X-Drip: 1\r\n" if first else b"H"[:1])
            await writer.drain()
            await asyncio.sleep(0.05)
            if not first:
                await asyncio.sleep(60)

    started = time.monotonic()
    async with serving(drip) as (url, _):
        outcome = await check(tmp_path, get(url))
    assert outcome.error == f"http_get_status {url}: no answer within 1 s"
    assert time.monotonic() - started < 4


def test_an_address_gets_ten_seconds():
    assert artifact.HTTP_SECONDS == 10


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/", "http://[::1/", "file:///etc/passwd", "data:,x", "http://",
        "http://127.0.0.1:99999/", "ftp://127.0.0.1/", "http://no such host/", "",
        f"http://{'a' * 70}.invalid/", "http://\u2764\ufe0f.invalid:1/",
    ],
)  # fmt: skip
async def test_whatever_goes_wrong_is_a_sentence(tmp_path, url):
    rule = HttpGetStatus.model_construct(rule="http_get_status", url=url, status=200)
    outcome = await run_artifact([rule], NO_FOLDER)
    assert not outcome.passed
    assert outcome.error.startswith(f"http_get_status {url}: ")
    assert "root:" not in outcome.evidence


async def test_answer_that_is_not_http_is_a_sentence(tmp_path):
    async with serving(replying("SSH-2.0-OpenSSH\r\n\r\n")) as (url, _):
        outcome = await check(tmp_path, get(url))
    assert not outcome.passed
    assert "no answer" in outcome.error


async def test_addresses_are_asked_together(tmp_path):
    async def slow(_reader, writer):
        await asyncio.sleep(0.5)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    started = time.monotonic()
    async with serving(slow) as (url, _):
        assert (await check(tmp_path, *(get(f"{url}{i}") for i in range(8)))).passed
    assert time.monotonic() - started < 2.5
