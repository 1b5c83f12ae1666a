"""Search by a part of the subject: the same answers through the index as without it."""

import datetime as dt
import itertools
import random

import pytest
from django.db import connection
from django.utils import timezone

from coordination import checks
from coordination.models import Message
from coordination.selectors import search
from coordination.selectors.messages import history
from coordination.text import fold

pytestmark = pytest.mark.django_db

SUBJECTS = [
    "Quel port pour l'API ?", "quel PORT", "100% fait", "100 pour cent", "a_b", "axb", "a%b",
    "Été à l'Étang", "ETE", "L’œuvre", "straße STRASSE", "Привет мир", "ПРИВЕТ", "日本語の質問",
    'dit "oui" ou "non"', "deux  mots", "back\\slash", "x", "xy", "xyz", "AND OR NOT NEAR",
    "100%_fait*", "(parens) [crochets] {x}", "e\u0301te\u0301", "ﬁn", "İstanbul", "👍🏽 merci",
]  # fmt: skip
NEEDLES = [
    "port", "PORT", "quel p", "l'api", "100%", "0% f", "%", "_", "a_b", "a%b", "b", "été", "ete",
    "ÉTANG", "œuv", "strasse", "ПРИВ", "вет м", "日本", "日本語", "の質問", '"oui"', '"', "\\sl",
    "xyz", "xy", "x", "and or", "not near", "*", "%_fa", "(par", "[cro", "fin", "istan",
    "👍", "🏽 m",
    "nothing like it", "zzz", "  ", "deux mots", "quel port pour l'api ?", "e",
]  # fmt: skip


def ask(subject: str, at: dt.datetime | None = None, **values: object) -> Message:
    return Message.objects.create(
        from_session_id=values.pop("sender", "panel"),
        to_session_id=values.pop("to", "app"),
        subject=subject,
        subject_folded=fold(subject),
        body="b",
        created_at=at or timezone.now(),
        **values,
    )


@pytest.fixture(params=["as it is", "rare", "not rare", "common"])
def anyhow(request, monkeypatch):
    """Run a test as a small table is searched, and in each way that a very large one is."""
    if request.param != "as it is":
        rare, deep = {"rare": (500, 1), "not rare": (1, 1), "common": (1, 10_000)}[request.param]
        monkeypatch.setattr(search, "SHALLOW", 0)
        monkeypatch.setattr(search, "FEW", 0)
        monkeypatch.setattr(search, "RARE", dict.fromkeys(search.RARE, rare))
        monkeypatch.setattr(search, "DEEP", dict.fromkeys(search.DEEP, deep))


@pytest.mark.parametrize("needle", NEEDLES)
def test_a_needle_is_found_in_every_case_and_accent_and_literally(anyhow, needle):
    asked = [ask(subject) for subject in SUBJECTS]
    wanted = [one.pk for one in reversed(asked) if fold(needle) in one.subject_folded]
    assert [one.id for one in history(subject_contains=needle, limit=200)] == wanted


def test_newest_first_goes_by_time_then_by_id(anyhow):
    now = timezone.now()
    late, early = ask("needle one", now), ask("needle two", now - dt.timedelta(days=1))
    twin, latest = ask("needle three", now), ask("needle four", now + dt.timedelta(seconds=1))
    found = [one.id for one in history(subject_contains="needle")]
    assert found == [latest.pk, twin.pk, late.pk, early.pk]
    assert [one.id for one in history(subject_contains="needle", limit=2)] == found[:2]


def test_filters_and_limit_hold_together_with_a_needle(anyhow):
    rng = random.Random(1)
    words = ["alpha", "beta", "gamma", "delta"]
    ways = list(itertools.permutations(("panel", "app", "human"), 2))
    for _number in range(120):
        sender, to = rng.choice(ways)
        ask(
            " ".join(rng.sample(words, 2)),
            sender=sender,
            to=to,
            status=rng.choice(("open", "closed")),
        )
    for needle, sender, to, status, limit in itertools.product(
        ("alpha", "ta g", "a"), ("", "app"), ("", "human"), ("", "open", "all"), (3, 50)
    ):
        found = history(subject_contains=needle, from_session=sender, to_session=to,
                        status=status, limit=limit)  # fmt: skip
        rows = Message.objects.order_by("-created_at", "-id")
        wanted = [
            one.pk for one in rows
            if needle in one.subject_folded
            and one.from_session_id == (sender or one.from_session_id)
            and one.to_session_id == (to or one.to_session_id)
            and one.status == (one.status if status in ("", "all") else status)
        ]  # fmt: skip
        assert [one.id for one in found] == wanted[:limit]


def test_the_index_follows_every_write(anyhow):
    one, other = ask("the first subject"), ask("the other subject")
    Message.objects.create(
        parent=one,
        from_session_id="app",
        body="subject",
        status="closed",
        created_at=timezone.now(),
    )
    Message.objects.filter(pk=one.pk).update(subject_folded="a changed line")
    assert [row.id for row in history(subject_contains="changed")] == [one.pk]
    assert [row.id for row in history(subject_contains="subject")] == [other.pk]
    Message.objects.filter(pk=other.pk).delete()
    assert history(subject_contains="subject") == []


def test_what_no_subject_can_hold_is_found_nowhere(anyhow):
    ask("a subject")
    assert history(subject_contains="a\x00") == []
    assert history(subject_contains="\ud800") == []


def test_long_needles_look_for_their_rarest_pieces(anyhow):
    for _number in range(60):
        ask("common words all over")
    wanted = ask("common words all over, and a quetzal")
    found = history(subject_contains="common words all over, and a quetzal")
    assert [one.id for one in found] == [wanted.pk]


def test_the_index_is_there():
    """A later migration that makes SQLite's table anew would lose its triggers, silently."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'"
                " AND tbl_name = 'coordination_message'"
            )
            assert cursor.fetchone() == (3,)
        else:
            cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = %s", [checks.INDEX])
            ((made,),) = cursor.fetchall()
            assert "gin (subject_folded gin_trgm_ops)" in made
