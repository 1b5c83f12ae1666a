"""Ask, broadcast, answer, close, and find it all again."""

import datetime as dt

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from coordination.actors import Actor
from coordination.errors import Conflict, Invalid, MissingFields, NotFound
from coordination.models import Event, Message
from coordination.selectors import messages as selectors
from coordination.services import messages as services

pytestmark = pytest.mark.django_db

PANEL = Actor.agent("panel")
APP = Actor.agent("app")
HUMAN = Actor.human("ada")


def ask(
    subject: str = "Which port?", actor: Actor = PANEL, to: str = "app", body: str = "b"
) -> int:
    return services.ask(actor=actor, to=to, subject=subject, body=body).pk


def broadcast(subject: str = "To all", actor: Actor = PANEL) -> int:
    return services.broadcast(actor=actor, subject=subject, body="b").pk


def answer(number: int, actor: Actor = APP, body: str = "7878") -> int:
    return services.answer(actor=actor, message_id=number, body=body).pk


def status(number: int) -> str:
    return Message.objects.get(pk=number).status


def found(**filters: object) -> list[int]:
    return [question.id for question in selectors.history(**filters)]


def inbox(session: str, **filters: object) -> list[int]:
    return [question.id for question in selectors.inbox(session=session, **filters).items]


def test_a_question_waits_in_the_others_inbox_until_it_is_answered():
    number = ask()
    assert inbox("app") == [number]
    assert inbox("panel") == []
    answer(number)
    assert inbox("app") == []
    assert inbox("app", status="answered") == [number]


def test_a_broadcast_reaches_everyone_but_its_author():
    number = broadcast()
    assert inbox("app") == inbox("human") == [number]
    assert inbox("panel") == []


def test_the_inbox_is_oldest_first_and_says_how_many_there_are():
    numbers = [ask(f"q{n}") for n in range(5)]
    page = selectors.inbox(session="app", limit=2)
    assert [question.id for question in page.items] == numbers[:2]
    assert str(page.total) == "5"


def test_all_shows_open_ones_first():
    first, second = ask("a"), ask("b")
    services.close(actor=APP, message_id=first)
    assert inbox("app", status="all") == [second, first]


def test_several_answers_keep_their_order_even_at_the_same_instant():
    number = ask()
    answers = [answer(number, body=f"a{n}") for n in range(3)]
    Message.objects.filter(parent=number).update(created_at=timezone.now())
    thread = selectors.thread(message_id=number)
    assert [a.id for a in thread.answers] == answers
    assert selectors.thread(message_id=answers[1]) == thread


def test_an_answer_resolves_its_question_once_and_closing_keeps_the_time():
    number = ask()
    answer(number)
    resolved = Message.objects.get(pk=number).resolved_at
    services.close(actor=PANEL, message_id=number)
    assert status(number) == "closed"
    assert Message.objects.get(pk=number).resolved_at == resolved


def test_closing_twice_is_silent_and_recorded_once():
    number = ask()
    services.close(actor=PANEL, message_id=number)
    services.close(actor=APP, message_id=number)
    assert Event.objects.filter(verb="closed").count() == 1


def test_a_closed_question_takes_no_answer():
    number = ask()
    services.close(actor=PANEL, message_id=number)
    with pytest.raises(Conflict, match=f"#{number} est fermée"):
        answer(number)
    assert status(number) == "closed"
    assert not Message.objects.filter(parent=number).exists()


def test_an_answer_is_no_question():
    number = ask()
    reply = answer(number)
    with pytest.raises(Conflict, match=f"sa question est #{number}"):
        answer(reply)
    with pytest.raises(Conflict, match=f"sa question est #{number}"):
        services.close(actor=PANEL, message_id=reply)


def test_an_unknown_id_is_not_found():
    for call in (
        lambda: answer(999),
        lambda: services.close(actor=PANEL, message_id=999),
        lambda: selectors.thread(message_id=999),
        lambda: services.delete(actor=HUMAN, message_id=999),
    ):
        with pytest.raises(NotFound, match="#999"):
            call()


def test_asking_oneself_or_nobody_is_refused():
    with pytest.raises(Invalid, match="panel"):
        ask(to="panel")
    with pytest.raises(Invalid, match="panel, app, human"):
        ask(to="nobody")
    assert not Message.objects.exists()


def test_blank_values_are_missing_all_of_them_at_once():
    with pytest.raises(MissingFields) as refusal:
        services.ask(actor=PANEL, to=" ", subject="\n", body="\t")
    assert refusal.value.message == "Champs requis: to, subject, body"


def test_a_subject_is_one_line():
    assert Message.objects.get(pk=ask(" a\r\n\tb  c ")).subject == "a b c"


def test_history_is_newest_first_and_ands_its_filters():
    first, second = ask("Port"), broadcast("port of all")
    third = ask("Port", actor=APP, to="panel")
    assert found() == [third, second, first]
    assert found(from_session="panel") == [second, first]
    assert found(from_session="panel", to_session="app") == [first]
    assert found(to_session="panel", subject_contains="PORT") == [third]
    services.close(actor=APP, message_id=first)
    assert found(status="closed") == [first]
    assert found(limit=1) == [third]


@pytest.mark.parametrize(
    ("needle", "hits"),
    [("ÉCRAN", 1), ("ecran", 1), ("straße", 1), ("STRASSE", 1), ("100%", 1), ("a_b", 1), ("10%", 0),
     ("ΣΊΣΥΦΟΣ", 1), ("\\", 0), ("'", 0)],
)  # fmt: skip
def test_searching_ignores_case_in_every_script_and_knows_no_wildcards(needle: str, hits: int):
    for subject in ("Écran noir", "Straße", "100% sûr", "a_b", "axb", "σίσυφος"):
        ask(subject)
    assert len(found(subject_contains=needle)) == hits


def test_every_change_is_one_event_by_its_author():
    number = ask()
    reply = answer(number, actor=HUMAN)
    services.close(actor=PANEL, message_id=number)
    assert list(Event.objects.order_by("pk").values_list("actor", "verb", "subject")) == [
        ("panel", "asked", f"message:{number}"),
        ("human:ada", "answered", f"message:{number}"),
        ("panel", "closed", f"message:{number}"),
    ]
    assert Event.objects.get(verb="answered").data["answer"] == reply


def test_a_refused_change_leaves_no_event():
    with pytest.raises(NotFound):
        answer(999)
    assert not Event.objects.exists()


def test_deleting_a_question_takes_its_answers_along():
    number = ask()
    answer(number)
    services.delete(actor=HUMAN, message_id=number)
    assert not Message.objects.exists()
    assert Event.objects.latest("pk").verb == "deleted"


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "lost"},
        {"status": "open", "resolved_at": timezone.now()},
        {"subject": ""},
        {"to_session": "panel"},
    ],
)
def test_the_database_itself_refuses_what_no_rule_allows(changes: dict):
    number = ask()
    with pytest.raises(IntegrityError), transaction.atomic():
        Message.objects.filter(pk=number).update(**changes)


def test_one_inbox_costs_the_same_queries_whatever_its_size(django_assert_num_queries):
    for n in range(30):
        ask(f"q{n}")
    with django_assert_num_queries(4):
        selectors.inbox(session="app", limit=20)


def test_a_clock_that_runs_ahead_changes_no_order():
    first = ask("a")
    Message.objects.filter(pk=first).update(created_at=timezone.now() + dt.timedelta(hours=1))
    second = ask("b")
    assert inbox("app") == [second, first]
