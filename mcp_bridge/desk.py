"""What waits for a session, in plain SQL: for who must know before Django would have started.

It imports next to nothing, since Claude Code's hooks run it. The selectors `open_count` and
`deciding_step` give the same answers, and a test holds each to the other.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Query = Callable[[str, Sequence[Any]], list[Any]]
"""Runs one statement, whose values are marked %s, and returns its rows."""

QUESTIONS = """
    SELECT id FROM (
        SELECT id FROM coordination_message
        WHERE parent_id IS NULL AND status = 'open' AND to_session_id = %s
        ORDER BY created_at, id LIMIT %s) AS own
    UNION ALL
    SELECT id FROM (
        SELECT id FROM coordination_message
        WHERE parent_id IS NULL AND status = 'open' AND to_session_id IS NULL
          AND from_session_id <> %s
        ORDER BY created_at, id LIMIT %s) AS for_everyone
"""
STEP = """
    SELECT id, status, title, status_since FROM plans_task
    WHERE NOT settled AND plan_id = (
        SELECT id FROM plans_plan
        WHERE project_id = %s AND status = 'active' AND EXISTS (
            SELECT 1 FROM plans_task WHERE plan_id = plans_plan.id AND NOT settled)
        ORDER BY created_at, id LIMIT 1)
    ORDER BY active DESC, position, id LIMIT 1
"""


class Step(NamedTuple):
    """The step that decides what a session's agent does."""

    id: int
    status: str
    title: str
    since: Any  # when it took this status, as the database's driver gives it


class Desk(NamedTuple):
    """The open questions that wait for a session, by id, and its deciding step."""

    questions: list[int]
    step: Step | None


def look(query: Query, session: str, *, limit: int) -> Desk:
    """Return what waits for `session`: of its own questions and of everyone's, `limit` each."""
    questions = query(QUESTIONS, (session, limit, session, limit))
    steps = query(STEP, (session,))
    return Desk([row[0] for row in questions], Step(*steps[0]) if steps else None)
