"""Other websites, other names: refused before anything is read or changed."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from coordination.models import Message

QUESTION = '{"subject": "s", "body": "b"}'


@pytest.fixture
def signed(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("admin"))
    return client


def ask(client: Client, content_type: str = "application/json", **headers: str):
    return client.post("/api/messages", QUESTION, content_type=content_type, headers=headers)


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "http://evil.example",
        "https://testserver",
        "http://testserver.evil.example",
        "http://testserver:1",
        "file://",
        "",
    ],
)
def test_a_foreign_origin_is_refused_on_every_method(signed: Client, origin: str):
    assert ask(signed, Origin=origin).status_code == 403
    assert signed.get("/api/messages", headers={"Origin": origin}).status_code == 403
    assert signed.post("/sign-out/", headers={"Origin": origin}).status_code == 403
    assert not Message.objects.exists()


def test_ones_own_origin_passes(signed: Client):
    assert ask(signed, Origin="http://testserver").status_code == 201


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""],
)
def test_json_that_a_plain_form_could_send_is_refused(signed: Client, content_type: str):
    assert ask(signed, content_type).status_code == 415
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "testserver.evil.example", "", "a b"]
)
def test_a_foreign_host_is_refused(signed: Client, host: str):
    answer = signed.get("/api/backends", headers={"Host": host})
    assert answer.status_code == 400
    assert "evil" not in answer.content.decode()
