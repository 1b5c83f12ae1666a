"""Fill a database with very many questions, by one statement of SQL on either engine."""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import django
import psycopg

WORDS = 3000
PER_SUBJECT = 6
SESSIONS = 16
MIX = 1_000_003
"""A prime, under which multiplication scatters the numbers."""

TABLES = (
    "CREATE TABLE bench_word (id integer PRIMARY KEY, word text)",
    "CREATE TABLE bench_key (id integer PRIMARY KEY, key text)",
    "CREATE TABLE bench_number (n integer PRIMARY KEY)",
)
NUMBERS = """
    INSERT INTO bench_number WITH RECURSIVE upto(n) AS (
        SELECT 1 UNION ALL SELECT n + 1 FROM upto WHERE n < {count}) SELECT n FROM upto
"""
QUESTIONS = """
    INSERT INTO coordination_message (from_session_id, to_session_id, subject, subject_folded,
                                      body, status, created_at, resolved_at)
    SELECT sender.key, CASE WHEN n % 5 = 0 THEN NULL ELSE addressee.key END,
           {subject}, {subject}, 'A question of an ordinary length, that somebody can answer.',
           CASE WHEN n > {count} - 500 THEN 'open' WHEN n % 3 = 0 THEN 'answered' ELSE 'closed' END,
           {moment}, CASE WHEN n > {count} - 500 THEN NULL ELSE {moment} END
    FROM bench_number
    JOIN bench_key AS sender ON sender.id = n % {sessions}
    JOIN bench_key AS addressee ON addressee.id = (n + 1 + n / 7 % ({sessions} - 1)) % {sessions}
    {joins}
    ORDER BY n
"""
INDEX = "question_subject_pieces"
MAKE_INDEX = (
    f"CREATE INDEX {INDEX} ON coordination_message USING gin (subject_folded gin_trgm_ops)"
    " WITH (fastupdate = off) WHERE parent_id IS NULL"
)
MOMENT = {
    "sqlite": "datetime(1700000000 + n * 30, 'unixepoch')",
    "postgresql": "to_timestamp(1700000000 + n * 30)",
}


def vocabulary() -> list[str]:
    """Return real words without accents, the most frequent first: Django's translations'."""
    folder = Path(django.__file__).parent
    text = "".join(file.read_text() for file in sorted(folder.glob("**/locale/fr/**/*.po")))
    words = (word.lower() for word in re.findall(r"[^\W\d_]{2,}", text))
    ranked = Counter(word for word in words if word.isascii())
    return [word for word, _count in ranked.most_common(WORDS)]


def fill(database: Path, count: int) -> None:
    """Add `count` questions of six words each between sixteen sessions, one every 30 s."""
    with _open(database) as run:
        for table in TABLES:
            run(table)
        for number, word in enumerate(vocabulary()):
            run(f"INSERT INTO bench_word VALUES ({number}, '{word}')")
        for number in range(SESSIONS):
            key = ("panel", "app")[number] if number < 2 else f"project-{number}"
            run(f"INSERT INTO bench_key VALUES ({number}, '{key}')")
        run(
            "INSERT INTO coordination_session (key, color, description, position)"
            " SELECT key, '#000000', '', 50 FROM bench_key WHERE id > 1"
        )
        run(NUMBERS.format(count=count))
        if _engine(database) == "postgresql":  # an index is made faster than it is kept
            run(f"DROP INDEX {INDEX}")
        run(questions(_engine(database), count))
        if _engine(database) == "postgresql":
            run(MAKE_INDEX)
        for name in ("word", "key", "number"):
            run(f"DROP TABLE bench_{name}")
        run("VACUUM ANALYZE" if _engine(database) == "postgresql" else "SELECT 1")


def questions(engine: str, count: int) -> str:
    """Return the statement that adds the questions.

    A word's rank is a cube of an even number: a few words are everywhere, most are rare.
    """
    mixed = [f"((n * 7919 + {104_729 * k}) % {MIX} * 265443 % {MIX})" for k in range(PER_SUBJECT)]
    ranks = [f"({x} * {x} / {MIX} * {x} / {MIX} * {WORDS} / {MIX})" for x in mixed]
    if engine == "postgresql":
        ranks = [rank.replace("(n *", "(n::bigint *") for rank in ranks]
    return QUESTIONS.format(
        subject=" || ' ' || ".join(f"word{k}.word" for k in range(PER_SUBJECT)),
        joins="\n".join(
            f"JOIN bench_word AS word{k} ON word{k}.id = {rank}" for k, rank in enumerate(ranks)
        ),
        moment=MOMENT[engine],
        count=count,
        sessions=SESSIONS,
    )


def _engine(database: Path) -> str:
    return "postgresql" if database.suffix == ".url" else "sqlite"


@contextmanager
def _open(database: Path) -> Iterator[Any]:
    """Yield a function that runs one statement."""
    if _engine(database) == "postgresql":
        with psycopg.connect(database.read_text(), autocommit=True) as server:
            yield server.execute
        return
    with closing(sqlite3.connect(database)) as file:
        file.execute("PRAGMA synchronous = OFF")
        yield file.execute
        file.commit()
