"""The printed link signs in once, for ten minutes, and leaves no token behind."""

import threading
from collections.abc import Callable

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from sesame import tokens_v2

from handoff_site.ways_in import link_for
from tests.handoff_site.conftest import Served

BOARD = reverse("board")


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_superuser("admin", password="a-long-password")


def signed_in(client: Client) -> bool:
    return client.get("/api/backends").status_code == 200


def test_a_fresh_link_signs_in_and_the_token_leaves_the_address(admin: User, client: Client):
    answer = client.get(link_for(admin))
    assert answer.headers["Location"] == BOARD
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert "no-store" in answer.headers["Cache-Control"]
    assert signed_in(client)


def test_a_link_works_once(admin: User):
    link = link_for(admin)
    Client().get(link)
    second = Client()
    answer = second.get(link, follow=True)
    assert "ancien" in answer.content.decode() or "déjà servi" in answer.content.decode()
    assert not signed_in(second)


def test_a_used_link_still_leads_the_signed_in_person_to_the_board(admin: User, client: Client):
    link = link_for(admin)
    client.get(link)
    assert client.get(link).headers["Location"] == BOARD


def test_a_link_is_good_for_ten_minutes(admin: User, monkeypatch: pytest.MonkeyPatch):
    link = link_for(admin)
    now = tokens_v2.time.time()
    monkeypatch.setattr(tokens_v2.time, "time", lambda: now + 601)
    late = Client()
    late.get(link)
    assert not signed_in(late)
    monkeypatch.setattr(tokens_v2.time, "time", lambda: now + 590)
    late.get(link)
    assert signed_in(late)


@pytest.mark.parametrize("token", ["", "x", "AAAA", "a" * 5000, "é", "\x00", "1:2:3"])
def test_a_made_up_token_is_refused(admin: User, client: Client, token: str):
    answer = client.get(reverse("sign-in-link"), {"sesame": token})
    assert answer.headers["Location"] == reverse("sign-in")
    assert not signed_in(client)


def test_made_up_tokens_lock_nobody_out(admin: User, client: Client):
    for _ in range(10):
        client.get(reverse("sign-in-link"), {"sesame": "x"})
    client.get(link_for(admin))
    assert signed_in(client)


def test_a_look_ahead_does_not_use_the_link_up(admin: User, client: Client):
    link = link_for(admin)
    assert client.head(link).status_code == 204
    assert client.get(link, headers={"Sec-Purpose": "prefetch;prerender"}).status_code == 204
    assert not signed_in(client)
    client.get(link)
    assert signed_in(client)


def test_a_link_of_a_disabled_account_is_refused(admin: User, client: Client):
    link = link_for(admin)
    User.objects.update(is_active=False)
    client.get(link)
    assert not signed_in(client)


def test_a_new_password_ends_the_link(admin: User, client: Client):
    link = link_for(admin)
    admin.set_password("another-long-password")
    admin.save()
    client.get(link)
    assert not signed_in(client)


def test_two_at_once_sign_in_one(serve: Callable[..., Served]):
    served = serve().ready()
    clients = [httpx.Client(base_url=served.site) for _ in range(6)]
    start = threading.Barrier(len(clients))

    def open_link(client: httpx.Client) -> None:
        start.wait()
        client.get(served.link)

    threads = [threading.Thread(target=open_link, args=[client]) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    inside = [client.get("/api/backends").status_code for client in clients]
    assert sorted(inside) == [200] + 5 * [401]
