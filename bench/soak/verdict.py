"""Compare the database with what was acknowledged."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench.database import PROJECT
from bench.soak.ledger import Ledger
from tests.databases import clean_environment, rows

SHOWN = 5


def verdict(database: Path, ledger: Ledger) -> Iterator[str]:
    """Yield what is lost, doubled or against the rules."""
    yield from _questions(database, ledger)
    yield from _answers(database, ledger)
    yield from _plans(database, ledger)
    yield from _store(database)


def _questions(database: Path, ledger: Ledger) -> Iterator[str]:
    found = rows(
        database,
        "SELECT id, subject, status FROM coordination_message WHERE parent_id IS NULL",
    )
    subjects = {number: subject for number, subject, _status in found}
    statuses = {number: status for number, _subject, status in found}
    yield from _say(
        "questions were lost",
        (number for number, mark in ledger.asked.items() if subjects.get(number) != mark),
    )
    yield from _say("questions are there twice", _doubled(subjects.values()))
    yield from _say("questions nobody sent", set(subjects.values()) - ledger.sent)
    yield from _say(
        "closings were lost",
        (number for number in ledger.closed if statuses.get(number) != "closed"),
    )
    events = Counter(
        int(subject.partition(":")[2])
        for (subject,) in rows(
            database, "SELECT subject FROM coordination_event WHERE verb = 'asked'"
        )
    )
    yield from _say(
        "questions without exactly one event",
        (number for number in subjects if events[number] != 1),
    )


def _answers(database: Path, ledger: Ledger) -> Iterator[str]:
    found = rows(
        database, "SELECT body, parent_id FROM coordination_message WHERE parent_id IS NOT NULL"
    )
    parents = dict(found)
    yield from _say(
        "answers were lost",
        (mark for mark, question in ledger.answered.items() if parents.get(mark) != question),
    )
    yield from _say("answers are there twice", _doubled(body for body, _parent in found))
    yield from _say("answers nobody sent", set(parents) - ledger.sent)


def _plans(database: Path, ledger: Ledger) -> Iterator[str]:
    plans = {number for (number,) in rows(database, "SELECT id FROM plans_plan")}
    statuses = dict(rows(database, "SELECT id, status FROM plans_task"))
    yield from _say("plans were lost", ledger.plans - plans)
    yield from _say("steps were lost", ledger.tasks - set(statuses))
    yield from _say(
        "decisions were lost",
        (number for number in ledger.done if statuses.get(number) not in {"done", "skipped"}),
    )
    titles = rows(database, "SELECT title FROM plans_task UNION ALL SELECT title FROM plans_plan")
    yield from _say("plans or steps are there twice", _doubled(title for (title,) in titles))
    # After the last edit that was acknowledged, a later one may have been stored unheard.
    edits = ledger.descriptions
    acknowledged = max((at for at, (_text, known) in enumerate(edits) if known), default=None)
    if acknowledged is not None:
        ((now,),) = rows(
            database, "SELECT description FROM coordination_session WHERE key = ?", "app"
        )
        if now not in [text for text, _known in edits[acknowledged:]]:
            yield f"the admin's last edit was lost: {now!r}"


def _store(database: Path) -> Iterator[str]:
    run = subprocess.run(
        [sys.executable, PROJECT / "manage.py", "check_store"],
        check=False,
        env=clean_environment(
            MCP_HANDOFF_DB=str(database),
            HANDOFF_DATA_DIR=str(database.parent),
            HANDOFF_LANGUAGE="en",
        ),
        capture_output=True,
        text=True,
    )
    if run.returncode:
        faults = re.findall(r"^FAULT.*", run.stdout, re.MULTILINE) or [run.stderr]
        yield "check_store: " + "; ".join(faults)


def _doubled(words: Iterable[str]) -> list[str]:
    return [word for word, count in Counter(words).items() if count > 1]


def _say(what: str, found: Iterable[object]) -> Iterator[str]:
    if every := list(found):
        yield f"{len(every)} {what}: {', '.join(map(str, every[:SHOWN]))}"
