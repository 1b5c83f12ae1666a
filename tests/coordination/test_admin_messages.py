"""The admin of messages: asked, answered and closed as human; what was said stays said."""

import html

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client

from coordination.actors import Actor
from coordination.models import Event, Message
from coordination.services import messages

pytestmark = pytest.mark.django_db

LIST = "/admin/coordination/message/"
PANEL = Actor.agent("panel")


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("ada"))
    return client


def ask(subject: str = "Which port?", body: str = "b") -> int:
    return messages.ask(actor=PANEL, to="app", subject=subject, body=body).pk


def listed(client: Client, **query: str) -> list[int]:
    return [row.pk for row in client.get(LIST, query).context["cl"].result_list]


def test_people_ask_one_or_all_as_human(client: Client):
    for to in ("app", ""):
        client.post(f"{LIST}add/", {"to_session": to, "subject": "s", "body": "b"})
    rows = Message.objects.order_by("pk").values_list("from_session", "to_session")
    assert list(rows) == [("human", "app"), ("human", None)]
    assert set(Event.objects.values_list("actor", flat=True)) == {"human:ada"}
    assert Message.objects.first().subject_folded == "s"


@pytest.mark.parametrize(
    ("field", "value"),
    [("to_session", "human"), ("to_session", "nobody"), ("subject", " "), ("body", ""),
     ("body", "x" * 100_001), ("subject", "x" * 201)],
)  # fmt: skip
def test_a_bad_value_is_an_error_of_its_field(client: Client, field: str, value: str):
    good = {"to_session": "app", "subject": "s", "body": "b"}
    answer = client.post(f"{LIST}add/", good | {field: value})
    assert answer.status_code == 200
    assert field in answer.context["adminform"].form.errors
    assert not Message.objects.exists()


def test_an_answer_and_a_closing_in_one_go(client: Client):
    number = ask()
    client.post(f"{LIST}{number}/change/", {"answer": "7878", "close": "on"})
    assert Message.objects.get(pk=number).status == "closed"
    assert Message.objects.get(parent=number).from_session_id == "human"


def test_what_was_said_cannot_be_edited(client: Client):
    number = ask(body="as said")
    client.post(f"{LIST}{number}/change/", {"answer": "x", "subject": "no", "body": "no"})
    question = Message.objects.get(pk=number)
    assert (question.subject, question.body) == ("Which port?", "as said")


def test_an_empty_reply_is_no_success(client: Client):
    number = ask()
    answer = client.post(f"{LIST}{number}/change/", {"answer": " "})
    assert answer.status_code == 200
    assert answer.context["adminform"].form.non_field_errors()
    assert Message.objects.get(pk=number).status == "open"


def test_a_refusal_keeps_what_was_typed(client: Client, monkeypatch: pytest.MonkeyPatch):
    number = ask()
    services_answer = messages.answer

    def closed_meanwhile(**arguments: object) -> object:
        messages.close(actor=PANEL, message_id=number)
        return services_answer(**arguments)

    monkeypatch.setattr(messages, "answer", closed_meanwhile)
    answer = client.post(f"{LIST}{number}/change/", {"answer": "typed with care"})
    page = html.unescape(answer.content.decode())
    assert answer.status_code == 200
    assert f"la question #{number} est fermée" in page
    assert "typed with care" in page
    assert not Message.objects.filter(parent=number).exists()
    assert not LogEntry.objects.exists()


def test_a_closed_question_offers_no_reply(client: Client):
    number = ask()
    messages.close(actor=PANEL, message_id=number)
    assert 'name="answer"' not in client.get(f"{LIST}{number}/change/").content.decode()
    assert client.post(f"{LIST}{number}/change/", {"answer": "late"}).status_code == 403


def test_the_thread_is_shown_as_text_never_as_markup(client: Client):
    number = ask(subject="<script>alert(1)</script>", body="<img src=x onerror=alert(2)>")
    messages.answer(actor=Actor.agent("app"), message_id=number, body="<b>three</b>")
    for path in (LIST, f"{LIST}{number}/change/", f"{LIST}{number}/delete/"):
        page = client.get(path).content.decode()
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "<b>three" not in page
    assert "&lt;b&gt;three" in client.get(f"{LIST}{number}/change/").content.decode()


def test_the_list_shows_questions_and_searches_as_history_does(client: Client):
    first, second = ask("Écran 100%"), ask("ecran a_b")
    reply = messages.answer(actor=Actor.agent("app"), message_id=first, body="b").pk
    assert listed(client) == [second, first]
    assert listed(client, q="ÉCRAN") == [second, first]
    assert listed(client, q="100%") == [first]
    assert listed(client, q="%") == [first]
    assert listed(client, q=f"#{first}") == [first]
    assert listed(client, q=f"#{reply}") == []
    assert listed(client, q="#" + "9" * 30) == []
    assert listed(client, q="\x00") == [second, first]
    assert listed(client, status__exact="answered") == [first]
    assert listed(client, from_session__key__exact="panel") == [second, first]


def test_the_list_costs_a_bounded_number_of_queries(client: Client, django_assert_max_num_queries):
    for n in range(60):
        ask(f"q{n}")
    with django_assert_max_num_queries(20):
        client.get(LIST)


def test_deleting_a_question_takes_its_answers_along(client: Client):
    number = ask()
    messages.answer(actor=Actor.agent("app"), message_id=number, body="b")
    kept = ask("kept")
    data = {"action": "delete_selected", "_selected_action": [number], "post": "yes"}
    client.post(LIST, data)
    assert list(Message.objects.values_list("pk", flat=True)) == [kept]
    client.post(f"{LIST}{kept}/delete/", {"post": "yes"})
    assert not Message.objects.exists()
    assert Event.objects.filter(verb="deleted").count() == 2


def test_closing_in_bulk_goes_through_the_service(client: Client):
    numbers = [ask("a"), ask("b")]
    client.post(LIST, {"action": "close_selected", "_selected_action": numbers})
    assert set(Message.objects.values_list("status", flat=True)) == {"closed"}
    assert Event.objects.filter(verb="closed").count() == 2


def test_a_viewer_sees_and_cannot_act():
    number = ask()
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_message"))
    client = Client()
    client.force_login(viewer)
    page = client.get(f"{LIST}{number}/change/")
    assert page.status_code == 200
    assert 'name="answer"' not in page.content.decode()
    assert client.post(f"{LIST}{number}/change/", {"answer": "x"}).status_code == 403
    assert client.post(f"{LIST}{number}/delete/", {"post": "yes"}).status_code == 403
    client.post(LIST, {"action": "close_selected", "_selected_action": [number]})
    assert Message.objects.get().status == "open"
