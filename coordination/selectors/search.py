"""Find questions by a part of their subject, newest first, among a million in milliseconds.

What is common is found among the newest questions, read in order. What is rare is found through
an index of three-letter pieces: SQLite's FTS5, kept by triggers, or PostgreSQL's pg_trgm. Either
index only proposes; the stored subject decides, so that `%`, `_` and `"` are what they look like.
"""

# ruff: noqa: S608 - the columns are named here and in the caller; every value is bound

from collections.abc import Mapping

from django.db import connection

PIECE = 3
"""Characters that the indexes know; a shorter needle is looked for without them."""

SHALLOW, DEEP = 300, 6000
"""Newest questions that are read before the index is asked: 0.2 and 5 ms."""

PIECES_PROBED, PIECES_USED = 12, 3
"""Of a long needle: the pieces whose frequency is told, and the rarest of them that are used."""

_CONTAINS = {
    "sqlite": "instr(subject_folded, %s) > 0",
    "postgresql": "strpos(subject_folded, %s) > 0",
}
_ORDER = "ORDER BY created_at DESC, id DESC LIMIT %s"

Params = list[str | int]


def newest_matching(*, needle: str, equal: Mapping[str, str], limit: int) -> list[int]:
    """Return the ids of the newest questions whose folded subject contains `needle`.

    `equal` are columns and the values that they must have.
    """
    if any(char == "\x00" or "\ud800" <= char <= "\udfff" for char in needle):
        return []  # no subject can hold it, and no database would take the question
    where = " AND ".join(["parent_id IS NULL", *(f"{column} = %s" for column in equal)])
    values: Params = list(equal.values())
    for depth in newest_first_tiers(limit):
        found = _among_newest(where, values, needle, depth, limit)
        if len(found) == limit or not _is_deeper(where, values, depth):
            return found
    if len(needle) < PIECE:
        return _read_all(where, values, needle, limit)
    if connection.vendor == "postgresql":
        return _by_trigrams(where, values, needle, limit)
    return _by_fts(where, values, needle, limit)


def newest_first_tiers(limit: int) -> tuple[int, ...]:
    """Return how many of the newest questions are read, each time, before the index is asked."""
    return max(SHALLOW, 15 * limit), max(DEEP, 60 * limit)


def _among_newest(where: str, values: Params, needle: str, depth: int, limit: int) -> list[int]:
    return _ids(
        f"""
        SELECT id FROM (SELECT id, created_at, subject_folded FROM coordination_message
                        WHERE {where} {_ORDER}) AS newest
        WHERE {_CONTAINS[connection.vendor]} {_ORDER}
        """,
        [*values, depth, needle, limit],
    )


def _is_deeper(where: str, values: Params, depth: int) -> bool:
    """Tell whether there are more questions than `depth`."""
    return bool(_ids(f"SELECT id FROM coordination_message WHERE {where} {_ORDER} OFFSET %s",
                     [*values, 1, depth]))  # fmt: skip


def _read_all(where: str, values: Params, needle: str, limit: int) -> list[int]:
    return _ids(
        f"SELECT id FROM coordination_message WHERE {where}"
        f" AND {_CONTAINS[connection.vendor]} {_ORDER}",
        [*values, needle, limit],
    )


def _by_trigrams(where: str, values: Params, needle: str, limit: int) -> list[int]:
    """Ask pg_trgm's index; materialised, so that no plan reads in order of time instead."""
    escaped = needle.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return _ids(
        f"""
        WITH found AS MATERIALIZED (
            SELECT * FROM coordination_message WHERE parent_id IS NULL AND subject_folded LIKE %s)
        SELECT id FROM found WHERE {where} {_ORDER}
        """,
        [f"%{escaped}%", *values, limit],
    )


def _by_fts(where: str, values: Params, needle: str, limit: int) -> list[int]:
    """Ask FTS5's index; CROSS JOIN, so that no plan reads in order of time instead."""
    return _ids(
        f"""
        SELECT m.id FROM coordination_message_search AS s
        CROSS JOIN coordination_message AS m ON m.id = s.rowid
        WHERE s.coordination_message_search MATCH %s AND {where}
          AND instr(m.subject_folded, %s) > 0
        ORDER BY m.created_at DESC, m.id DESC LIMIT %s
        """,
        [_rarest_pieces(needle), *values, needle, limit],
    )


def _rarest_pieces(needle: str) -> str:
    """Return FTS5's question for the pieces of `needle` that the fewest subjects have.

    Each piece is a list to walk through; three of them leave little to look at.
    """
    starts = [*range(0, len(needle) - PIECE, PIECE), len(needle) - PIECE][-PIECES_PROBED:]
    quoted = (needle[at : at + PIECE].replace('"', '""') for at in starts)
    pieces = list(dict.fromkeys(f'"{piece}"' for piece in quoted))
    if len(pieces) > PIECES_USED:
        pieces = sorted(pieces, key=_reach)[:PIECES_USED]
    return " AND ".join(pieces)


def _reach(piece: str) -> int:
    """Return how far one must go back for the fiftieth question that has a piece, as its id."""
    table = "coordination_message_search"
    found = _ids(
        f"SELECT rowid FROM {table} WHERE {table} MATCH %s ORDER BY rowid DESC LIMIT 1 OFFSET 50",
        [piece],
    )
    return found[0] if found else 0


def _ids(sql: str, params: Params) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return [row[0] for row in cursor.fetchall()]
