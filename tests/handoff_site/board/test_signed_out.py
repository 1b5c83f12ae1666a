"""A board ends with its person's right to see it: at once at a sign-out, else at the next tick."""

import asyncio
from collections.abc import Callable

import httpx
import pytest
import websockets
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from handoff_site.board import consumers
from handoff_site.board.hub import Hub
from tests.handoff_site.board.test_socket import connect
from tests.serving import Site

ENDS: dict[str, Callable[[User], object]] = {
    "signed out by another process": lambda _user: Session.objects.all().delete(),
    "deactivated": lambda user: User.objects.filter(pk=user.pk).update(is_active=False),
    "given a new password": lambda user: (user.set_password("new"), user.save()),
    "deleted": lambda user: user.delete(),
}


async def test_a_sign_out_closes_the_sockets_of_that_session_only(site: Site) -> None:
    leaving, staying = (site.scribe("sign_in", username="one-of-two") for _browser in range(2))
    async with (
        asyncio.timeout(consumers.TICK_SECONDS / 2),
        connect(site, cookie=leaving) as closed,
        connect(site, cookie=staying) as kept,
        httpx.AsyncClient(base_url=site.url) as browser,
    ):
        browser.cookies.set("handoff_session", leaving, domain="127.0.0.1")
        await browser.get("/")
        token = browser.cookies["handoff_csrf"]
        answer = await browser.post("/sign-out/", headers={"X-CSRFToken": token})
        assert answer.headers["Location"] == "/sign-in/"
        await closed.wait_closed()
        assert closed.close_code == consumers.NOT_SIGNED_IN
        await kept.ping()
        assert kept.state is websockets.State.OPEN


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("end", ENDS)
async def test_the_next_tick_closes_the_board_of_a_person_who_is(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "TICK_SECONDS", 0.01)
    still = StillHub()
    monkeypatch.setattr(consumers, "hub", lambda: still)
    user, cookie = await sync_to_async(signed_in)()
    scope = {"type": "websocket", "cookies": {"handoff_session": cookie}}
    board = ApplicationCommunicator(consumers.BoardConsumer.as_asgi(), scope)
    await board.send_input({"type": "websocket.connect"})
    said = [(await board.receive_output(timeout=5))["type"] for _tick in range(4)]
    assert said == ["websocket.accept", *["websocket.send"] * 3]
    await sync_to_async(ENDS[end])(user)
    async with asyncio.timeout(10):
        while (last := await board.receive_output(timeout=5))["type"] == "websocket.send":
            pass
    assert (last["type"], last["code"]) == ("websocket.close", consumers.NOT_SIGNED_IN)
    await board.send_input({"type": "websocket.disconnect", "code": consumers.NOT_SIGNED_IN})
    await board.wait(timeout=5)


class StillHub(Hub):
    """A hub without a tail: nothing happens but the clock."""

    async def join(self, channel: str) -> int:
        return 0


def signed_in() -> tuple[User, str]:
    client, user = Client(), User.objects.create_user("ada")
    client.force_login(user)
    return user, client.cookies["handoff_session"].value
