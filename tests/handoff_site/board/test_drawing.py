"""A page gets its parts through the socket: in its person's language, with their rights, once."""

import asyncio
import json
import threading
from collections.abc import Callable

import httpx
import pytest
from django.contrib.auth.models import AnonymousUser
from django.db.utils import OperationalError

from handoff_site.board import parts
from mcp_bridge.crossing import in_database
from tests.handoff_site.board.test_socket import ASK, connect
from tests.serving import Site


async def drawn(socket, *names: str) -> str:
    """Ask for parts; return what comes."""
    await socket.send(json.dumps({"draw": names}))
    async with asyncio.timeout(5):
        while "html" not in (message := json.loads(await socket.recv())):
            pass
    return message["html"]


async def test_a_page_gets_the_parts_it_names(site: Site) -> None:
    asked = site.scribe(ASK, actor="panel", to="app", subject="Drawn by the socket", body="?")
    cookie = site.scribe("sign_in", username="admin")
    async with connect(site, cookie=cookie) as socket:
        html = await drawn(socket, "questions", f"thread-{asked}", "thread-999999", "nothing-1")
    assert html.count("data-hx-swap-oob") == 2
    assert html.count("Drawn by the socket") == 1
    assert f'id="thread-{asked}"' in html


@pytest.mark.parametrize(
    ("language", "title"),
    [("", "For you"), ("fr", "À vous"), ("en", "For you"), ("xx", "For you")],
)
async def test_a_page_gets_its_own_language(site: Site, language: str, title: str) -> None:
    cookie = site.scribe("sign_in", username="admin")
    async with connect(site, cookie=f"{cookie}; handoff_language={language}") as socket:
        assert title in await drawn(socket, "for-you")


async def test_what_a_person_may_not_do_is_not_drawn(site: Site) -> None:
    asked = site.scribe(ASK, actor="panel", to="human", subject="May you answer?", body="?")
    for permissions, may in ((None, True), ([], False)):
        cookie = site.scribe("sign_in", username=f"may-{may}", permissions=permissions)
        async with connect(site, cookie=cookie) as socket:
            html = await drawn(socket, "for-you")
            assert "May you answer?" in html
            assert (f'id="answer-to-{asked}"' in html) is may


@pytest.mark.parametrize("kind", ["thread", "plan", "steps", "step", "task"])
async def test_a_part_of_no_possible_row_is_left_out(site: Site, kind: str) -> None:
    cookie = site.scribe("sign_in", username="admin")
    names = [f"{kind}-{key}" for key in ("9" * 18, "9" * 19, "9" * 90, "-1", "", "1\x00")]
    async with connect(site, cookie=cookie) as socket:
        html = await drawn(socket, *names)
        assert "data-task" not in html if kind == "steps" else not html.strip()
    async with httpx.AsyncClient(base_url=site.url, cookies={"handoff_session": cookie}) as client:
        for name in (*names, f"{kind}-" + "9" * 5000):
            answer = await client.get("/board/fragments", params={"n": name})
            assert answer.status_code == 200


@pytest.mark.django_db(transaction=True)
async def test_agents_who_wait_for_their_turn_to_write_hold_up_no_board() -> None:
    turn = threading.Event()
    agent = asyncio.create_task(in_database(lambda: turn.wait(30)))
    async with asyncio.timeout(10):
        assert await parts.in_board_thread(lambda: "drawn") == "drawn"
    turn.set()
    assert await agent


async def test_what_was_just_committed_is_drawn_before_it_is_told(site: Site) -> None:
    cookie = site.scribe("sign_in", username="admin")
    async with connect(site, cookie=cookie) as socket:
        for number in range(5):
            site.scribe(ASK, actor="panel", to="app", subject=f"At once {number}", body="?")
            assert f"At once {number}" in await drawn(socket, "questions")


class Slow:
    """Stands for drawing; each one takes until it is let go."""

    def __init__(self) -> None:
        self.count = 0
        self.begun = asyncio.Event()
        self.let_go = asyncio.Event()

    async def __call__(self, _work: Callable[[], str]) -> str:
        self.count += 1
        self.begun.set()
        await self.let_go.wait()
        return f"drawing {self.count}"


async def test_all_who_ask_while_a_drawing_is_under_way_share_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow, drawings, nobody = Slow(), parts.Drawings(), AnonymousUser()
    monkeypatch.setattr(parts, "in_board_thread", slow)
    first = asyncio.create_task(drawings.draw(nobody, ["questions"], "fr"))
    await slow.begun.wait()
    later = [asyncio.create_task(drawings.draw(nobody, ["questions"], "fr")) for _ in range(5)]
    other = asyncio.create_task(drawings.draw(nobody, ["questions"], "en"))
    await asyncio.sleep(0)
    slow.let_go.set()
    assert await first == "drawing 1"
    assert await asyncio.gather(*later) == ["drawing 2"] * 5
    assert await other == "drawing 3"


async def test_a_drawing_that_fails_stops_none_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    troubles = [OperationalError("away"), None]

    async def unsteady(_work: Callable[[], str]) -> str:
        if trouble := troubles.pop(0):
            raise trouble
        return "drawn"

    monkeypatch.setattr(parts, "in_board_thread", unsteady)
    drawings, nobody = parts.Drawings(), AnonymousUser()
    with pytest.raises(OperationalError):
        await drawings.draw(nobody, ["questions"], "fr")
    assert await drawings.draw(nobody, ["questions"], "fr") == "drawn"
