"""Fill a database with very many rows, by one statement of SQL a table on either engine."""

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import django
import psycopg

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
           CASE WHEN n > {settled} THEN 'open' WHEN n % 3 = 0 THEN 'answered' ELSE 'closed' END,
           {moment}, CASE WHEN n > {settled} THEN NULL ELSE {moment} END
    FROM bench_number
    JOIN bench_key AS sender ON sender.id = n % {sessions}
    JOIN bench_key AS addressee ON addressee.id = (n + 1 + n / 7 % ({sessions} - 1)) % {sessions}
    {joins}
    ORDER BY n
"""
ANSWERS = """
    INSERT INTO coordination_message (parent_id, from_session_id, subject, subject_folded,
                                      body, status, created_at, resolved_at)
    SELECT id, COALESCE(to_session_id, 'human'), '', '', 'An answer of an ordinary length.',
           'closed', resolved_at, resolved_at
    FROM coordination_message WHERE status = 'answered'
"""
PLANS = """
    INSERT INTO plans_plan (project_id, title, title_folded, status, created_at, updated_at,
                            version)
    WITH RECURSIVE upto(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM upto WHERE n < {count})
    SELECT CASE n % {sessions} WHEN 0 THEN 'panel' WHEN 1 THEN 'app'
           ELSE 'project-' || (n % {sessions}) END,
           'Plan ' || n, 'plan ' || n, CASE WHEN n * 10 < {count} * 8 THEN 'done' ELSE 'active' END,
           {moment}, {moment}, 1
    FROM upto
"""
STEPS = """
    INSERT INTO plans_task (plan_id, position, title, title_folded, instructions, validation_mode,
                            max_attempts, status, status_since, attempts, last_proof, last_error,
                            created_at, updated_at, version, runner_id)
    WITH RECURSIVE upto(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM upto WHERE n < {each})
    SELECT id, n * 10, 'Step ' || n, 'step ' || n, 'What is to be done.', 'manual', 1,
           CASE status WHEN 'done' THEN 'done' ELSE 'pending' END, created_at, 0, '', '',
           created_at, created_at, 1, ''
    FROM plans_plan CROSS JOIN upto
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
    return [word for word, _count in ranked.most_common()]


def fill(database: Path, count: int, *, still_open: int = 500) -> None:
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
        run(questions(_engine(database), count, still_open))
        if _engine(database) == "postgresql":
            run(MAKE_INDEX)
        for name in ("word", "key", "number"):
            run(f"DROP TABLE bench_{name}")
        _analyze(database, run)


def fill_further(database: Path, plans: int, steps_each: int) -> None:
    """Give each answered question an answer, and the sessions plans: four of five are done."""
    with _open(database) as run:
        run(ANSWERS)
        run(PLANS.format(count=plans, sessions=SESSIONS, moment=MOMENT[_engine(database)]))
        run(STEPS.format(each=steps_each))
        _analyze(database, run)


def questions(engine: str, count: int, still_open: int) -> str:
    """Return the statement that adds the questions.

    A word's rank is a cube of an even number: a few words are everywhere, most are rare.
    """
    mixed = [f"((n * 7919 + {104_729 * k}) % {MIX} * 265443 % {MIX})" for k in range(PER_SUBJECT)]
    words = len(vocabulary())
    ranks = [f"({x} * {x} / {MIX} * {x} / {MIX} * {words} / {MIX})" for x in mixed]
    if engine == "postgresql":
        ranks = [rank.replace("(n *", "(n::bigint *") for rank in ranks]
    return QUESTIONS.format(
        subject=" || ' ' || ".join(f"word{k}.word" for k in range(PER_SUBJECT)),
        joins="\n".join(
            f"JOIN bench_word AS word{k} ON word{k}.id = {rank}" for k, rank in enumerate(ranks)
        ),
        moment=MOMENT[engine],
        settled=count - still_open,
        sessions=SESSIONS,
    )


def _engine(database: Path) -> str:
    return "postgresql" if database.suffix == ".url" else "sqlite"


def _analyze(database: Path, run: Callable[[str], object]) -> None:
    """Let PostgreSQL know what it holds, as its own daemon would after a while."""
    if _engine(database) == "postgresql":
        run("VACUUM ANALYZE")


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
