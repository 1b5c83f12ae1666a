"""One table of what REST refuses: the status, the code, the field, and nobody else's words."""

import json
import logging

import pytest
from django.contrib.auth.models import Permission, User
from django.db import OperationalError
from django.test import Client

from coordination.models import ApiToken, Message
from coordination.selectors import messages as selectors
from coordination.services import tokens


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_superuser("admin")


@pytest.fixture
def signed(admin: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(admin)
    return client


def post(client: Client, body: object, path: str = "/api/messages"):
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    return client.post(path, text, content_type="application/json")


BODIES = [
    # body, status, code, fields, French sentence
    ({}, 422, "missing", ["subject", "body"], "Champs requis: subject, body"),
    ({"subject": " ", "body": "\n"}, 422, "missing", ["subject", "body"], "Champs requis"),
    ({"subject": None, "body": "b"}, 422, "missing", ["subject"], "Champs requis: subject"),
    ({"subject": 3, "body": "b"}, 422, "invalid", "subject", "subject"),
    ({"subject": ["s"], "body": "b"}, 422, "invalid", "subject", "subject"),
    ({"subject": "s", "body": "b", "to": "nobody"}, 422, "invalid", "to", "panel, app, human"),
    ({"subject": "s", "body": "b", "to": "a\x00"}, 422, "invalid", "to", "panel, app, human"),
    ({"subject": "s", "body": "b", "to": "human"}, 422, "invalid", "to", "human"),
    ({"subject": "s", "body": "b", "to": ""}, 422, "missing", ["to"], "Champs requis: to"),
    ({"subject": "s", "body": "b", "from": "app"}, 422, "invalid", "from", "from"),
    ({"subject": "s" * 201, "body": "b"}, 422, "invalid", "subject", "201"),
    ({"subject": "s", "body": "b" * 100_001}, 422, "invalid", "body", "100001"),
    ({"subject": "s\x00", "body": "b"}, 422, "invalid", "subject", "NUL"),
    ('{"subject": "\\ud800", "body": "b"}', 422, "invalid", "subject", "Unicode"),
    ("[]", 422, "invalid", "body", "objet JSON"),
    ("3", 422, "invalid", "body", "objet JSON"),
    ("", 422, "missing", ["body"], "Champs requis: body"),
    ("{", 400, "not_json", None, "JSON"),
    ("NaN", 400, "not_json", None, "JSON"),
    ("[" * 100_000, 400, "not_json", None, "JSON"),
    ("1" * 5000, 400, "not_json", None, "JSON"),
    (b"\xff\xfe", 400, "not_json", None, "JSON"),
    ('"' + "x" * 1_000_001 + '"', 413, "too_large", None, "1000000"),
]


@pytest.mark.parametrize(("body", "status", "code", "named", "sentence"), BODIES)
def test_a_bad_body_is_named_and_changes_nothing(
    signed: Client, body: object, status: int, code: str, named: object, sentence: str
):
    answer = post(signed, body)
    content = answer.json()
    assert (answer.status_code, content["code"]) == (status, code)
    assert content.get("fields", content.get("field")) == named
    assert sentence in content["message"]
    assert "pydantic" not in answer.content.decode()
    assert not Message.objects.exists()


QUERIES = [
    ("limit=0", 422, "limit"),
    ("limit=201", 422, "limit"),
    ("limit=-1", 422, "limit"),
    ("limit=x", 422, "limit"),
    ("limit=1.5", 422, "limit"),
    (f"limit={2**70}", 422, "limit"),
    ("limit=" + "9" * 5000, 422, "limit"),
    ("status=done", 422, "status"),
    ("from_session=nobody", 422, "from_session"),
    ("to_session=nobody", 422, "to_session"),
    ("subject_contains=%00", 422, "subject_contains"),
    ("from_session=a%00", 422, "from_session"),
]


@pytest.mark.parametrize(("query", "status", "field"), QUERIES)
def test_a_bad_filter_is_named(signed: Client, query: str, status: int, field: str):
    answer = signed.get(f"/api/messages?{query}")
    assert answer.status_code == status
    assert answer.json()["field"] == field
    assert answer.json()["message"].startswith(f"{field}: ")


@pytest.mark.parametrize("number", ["1", str(2**63 - 1), str(2**63), str(2**70), "0", "-1", "abc"])
@pytest.mark.parametrize("path", ["", "/answers", "/close"])
def test_an_id_that_is_nothing_is_404_or_422(signed: Client, number: str, path: str):
    address = f"/api/messages/{number}{path}"
    answer = post(signed, {"body": "b"}, address) if path else signed.get(address)
    assert answer.status_code in {404, 422}
    assert answer.json()["message"]


@pytest.mark.parametrize("path", ["", "nothing", "messages/1/2/3", "docs/x"])
def test_an_unknown_address_is_404_in_json(signed: Client, path: str):
    for answer in (signed.get(f"/api/{path}"), post(signed, {}, f"/api/{path}")):
        assert answer.status_code == 404
        assert answer.json()["code"] == "not_found"


def test_who_is_not_signed_in_gets_401_even_for_a_bad_body(db: None):
    for answer in (Client().get("/api/health"), post(Client(enforce_csrf_checks=True), "{")):
        assert answer.status_code == 401
        assert answer.json()["code"] == "not_signed_in"


def test_a_browser_without_its_csrf_token_gets_403(admin: User):
    client = Client(enforce_csrf_checks=True)
    client.force_login(admin)
    answer = post(client, {"subject": "s", "body": "b"})
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf")
    assert not Message.objects.exists()


def bearer(key: str) -> Client:
    return Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {key}"})


def test_a_token_acts_for_its_person_without_csrf(admin: User):
    key = tokens.create_token(token=ApiToken(user=admin, name="ci"))
    assert post(bearer(key), {"subject": "s", "body": "b"}).status_code == 201
    assert Message.objects.get().from_session_id == "human"


def test_a_bad_or_revoked_token_is_401_even_with_a_good_session(admin: User, signed: Client):
    token = ApiToken(user=admin, name="ci")
    key = tokens.create_token(token=token)
    tokens.revoke(token_id=token.pk)
    for bad in (key, "nonsense", "", "é", "\x00"):
        answer = signed.get("/api/health", headers={"Authorization": f"Bearer {bad}"})
        assert answer.status_code == 401


def test_a_token_of_a_disabled_account_is_401(admin: User):
    key = tokens.create_token(token=ApiToken(user=admin, name="ci"))
    User.objects.update(is_active=False)
    assert bearer(key).get("/api/health").status_code == 401


def test_a_viewer_sees_and_cannot_act(db: None, admin: User, signed: Client):
    post(signed, {"subject": "s", "body": "b"})
    number = Message.objects.get().pk
    viewer = Client()
    viewer.force_login(User.objects.create_user("viewer"))
    assert viewer.get("/api/messages").status_code == 200
    for path in ("", f"/{number}/answers", f"/{number}/close"):
        body = {"subject": "s", "body": "b"} if not path else {"body": "b"}
        answer = post(viewer, body, f"/api/messages{path}")
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert [m.status for m in Message.objects.all()] == ["open"]


def test_a_permission_is_enough_to_ask(db: None):
    person = User.objects.create_user("ada")
    person.user_permissions.add(Permission.objects.get(codename="add_message"))
    client = Client()
    client.force_login(person)
    assert post(client, {"subject": "s", "body": "b"}).status_code == 201


def test_a_locked_database_is_503_and_one_sentence(signed: Client, monkeypatch: pytest.MonkeyPatch):
    def locked(**_: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(selectors, "thread", locked)
    answer = signed.get("/api/messages/1")
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert "locked" not in answer.json()["message"]


def test_a_fault_is_500_one_sentence_and_one_line_of_log(
    signed: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def broken(**_: object) -> None:
        raise RuntimeError("a secret detail")

    monkeypatch.setattr(selectors, "thread", broken)
    with caplog.at_level(logging.ERROR):
        answer = signed.get("/api/messages/1")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "secret" not in answer.content.decode()
    assert len(caplog.records) == 1


def test_the_documentation_is_for_those_signed_in(db: None, signed: Client):
    assert Client().get("/api/docs").headers["Location"].startswith("/sign-in/")
    assert Client().get("/api/openapi.json").status_code == 302
    assert signed.get("/api/docs").status_code == 200
    paths = signed.get("/api/openapi.json").json()["paths"]
    assert "/api/messages/{message_id}/answers" in paths
