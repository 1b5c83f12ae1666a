"""REST for sessions and messages: what good requests get."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from coordination.actors import Actor
from coordination.models import Message
from coordination.services import messages

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("ada"))
    return client


def post(client: Client, path: str, body: object = None):
    return client.post(path, body, content_type="application/json")


def test_backends_are_the_agents_sessions_in_board_order(client: Client):
    assert client.get("/api/backends").json() == [
        {"key": "panel", "color": "#6366f1", "description": "", "position": 10},
        {"key": "app", "color": "#0d9488", "description": "", "position": 20},
    ]


def test_health_tells_who_is_there(client: Client):
    health = client.get("/api/health").json()
    assert health["summary"] == {"active": 0, "idle": 0, "stale": 2}
    assert health["sessions"][0] == {
        "key": "app",
        "last_seen": None,
        "age": None,
        "bucket": "stale",
    }


def test_a_question_goes_from_asked_to_closed(client: Client):
    made = post(client, "/api/messages", {"to": "app", "subject": "Port?", "body": "Which?"})
    assert made.status_code == 201
    question = made.json()["question"]
    assert (question["from_session"], question["to_session"]) == ("human", "app")
    path = f"/api/messages/{question['id']}"

    answered = post(client, f"{path}/answers", {"body": "7878"})
    assert answered.status_code == 201
    assert answered.json()["question"]["status"] == "answered"
    assert [a["body"] for a in answered.json()["answers"]] == ["7878"]

    for _ in range(2):
        closed = post(client, f"{path}/close")
        assert (closed.status_code, closed.json()["question"]["status"]) == (200, "closed")
    refused = post(client, f"{path}/answers", {"body": "late"})
    assert (refused.status_code, refused.json()["code"]) == (409, "closed")
    assert refused.json()["message"].startswith(f"la question #{question['id']} est fermée")


def test_an_answer_is_no_question(client: Client):
    number = messages.broadcast(actor=Actor.agent("app"), subject="s", body="b").pk
    reply = messages.answer(actor=Actor.agent("panel"), message_id=number, body="b").pk
    for path in ("answers", "close"):
        refused = post(client, f"/api/messages/{reply}/{path}", {"body": "x"})
        assert (refused.status_code, refused.json()["code"]) == (409, "not_a_question")
    assert client.get(f"/api/messages/{reply}").json()["question"]["id"] == number


@pytest.mark.parametrize("body", [{"to": None}, {}])
def test_no_addressee_is_everyone(client: Client, body: dict):
    made = post(client, "/api/messages", {"subject": "s", "body": "b"} | body)
    assert made.json()["question"]["to_session"] is None


def test_the_list_takes_the_filters_of_history(client: Client):
    for n in range(25):
        messages.ask(actor=Actor.agent("app"), to="panel", subject=f"Écran {n}", body="b")
    messages.broadcast(actor=Actor.agent("panel"), subject="autre", body="b")
    assert len(client.get("/api/messages").json()) == 20
    query = "subject_contains=écran&from_session=app&to_session=panel&status=open&limit=200"
    rows = client.get(f"/api/messages?{query}").json()
    assert [row["subject"] for row in rows] == [f"Écran {n}" for n in range(24, -1, -1)]
    assert "body" not in rows[0]
    assert len(client.get("/api/messages?limit=1&status=all").json()) == 1


def test_text_comes_back_as_it_was_sent(client: Client):
    body = "<script>alert(1)</script> \U0001f600 é\n  `x`"
    post(client, "/api/messages", {"subject": "<b>", "body": body})
    assert Message.objects.get().body == body
    answer = client.get("/api/messages")
    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
