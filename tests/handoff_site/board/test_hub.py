"""The hub keeps what happened for its sockets, whatever the channel layer can do."""

import asyncio
import logging

import pytest
from channels.exceptions import ChannelFull
from redis.exceptions import ConnectionError as RedisAway

from coordination.models import Event
from handoff_site.board import hub as hub_module
from handoff_site.board.hub import Hub


class Layer:
    """A channel layer that meets `trouble` when it is to wake "bad"."""

    def __init__(self, trouble: Exception) -> None:
        self.trouble = trouble
        self.woken: list[str] = []

    async def send(self, channel: str, _message: dict) -> None:
        if channel == "bad":
            raise self.trouble
        self.woken.append(channel)


@pytest.mark.parametrize(
    "trouble", [ChannelFull(), RedisAway("refused"), ConnectionResetError("reset"), TimeoutError()]
)
async def test_a_wake_up_that_fails_loses_no_event(
    trouble: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer, hub = Layer(trouble), Hub()
    monkeypatch.setattr(hub_module, "get_channel_layer", lambda: layer)
    hub.channels = {"bad", "good"}
    await hub._publish([Event(pk=7, verb="asked", subject="message:1")])
    assert [change.event_id for change in hub.after(0) or ()] == [7]
    assert layer.woken == ["good"]


async def test_a_layer_that_hangs_is_given_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Hanging(Layer):
        async def send(self, channel: str, _message: dict) -> None:
            await asyncio.Event().wait()

    hub = Hub()
    monkeypatch.setattr(hub_module, "get_channel_layer", lambda: Hanging(TimeoutError()))
    monkeypatch.setattr(hub_module, "WAKE_SECONDS", 0.05)
    hub.channels = {"good"}
    with caplog.at_level(logging.WARNING):
        await hub._publish([Event(pk=7, verb="asked", subject="message:1")])
    assert "Redis is away" in caplog.text
    assert hub.sequence == 1


def test_a_socket_that_leaves_twice_is_forgotten_once() -> None:
    hub = Hub()
    hub.channels.add("a")
    hub.leave("a")
    hub.leave("a")
    assert hub.channels == set()
