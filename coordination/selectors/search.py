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

SHALLOW = 300
"""Newest questions that are read first: what every tenth has is found there, in 0.3 ms."""

DEEP = {"sqlite": 1500, "postgresql": 20_000}
"""Newest questions that are read for a needle that is not rare; PostgreSQL stops at the last hit,
SQLite sorts them all. Each is 1.5 us, and 8 us where filters leave some only, that lie apart."""

FEW = 15
"""At least so many times the limit are read, and four times that where more are read."""

PIECES_PROBED, PIECES_USED = 12, 6
"""Of a long needle: the pieces whose frequency is told, and the rarest of them that are used."""

RARE = {"sqlite": 1000, "postgresql": 7000}
"""So few matches of an index are looked at one by one, and sorted: 6 and 2.5 us each."""

_CONTAINS = {
    "sqlite": "instr(subject_folded, %s) > 0",
    "postgresql": "strpos(subject_folded, %s) > 0",
}
_FTS = "coordination_message_search"
_ORDER = "ORDER BY created_at DESC, id DESC LIMIT %s"

Params = list[str | int]


def newest_matching(*, needle: str, equal: Mapping[str, str], limit: int) -> list[int]:
    """Return the ids of the newest questions whose folded subject contains `needle`.

    `equal` are columns and the values that they must have.
    """
    if any(char == "\x00" or "\ud800" <= char <= "\udfff" for char in needle):
        return []  # no subject can hold it, and no database would take the question
    wanted = Wanted(needle, equal, limit)
    found = _among_newest(wanted, max(SHALLOW, FEW * limit))
    if len(found) == limit:
        return found
    if len(needle) < PIECE:
        return _read_all(wanted)
    return _by_trigrams(wanted) if connection.vendor == "postgresql" else _by_fts(wanted)


class Wanted:
    """What is looked for, as SQL."""

    def __init__(self, needle: str, equal: Mapping[str, str], limit: int) -> None:
        self.needle, self.limit = needle, limit
        self.values: Params = list(equal.values())
        # The first filter's index goes on by time and holds the others' columns too. The plus
        # keeps SQLite from an index of two filters that would have it look at each message.
        plus = "+" if connection.vendor == "sqlite" else ""
        filters = [f"{plus if place else ''}{column} = %s" for place, column in enumerate(equal)]
        self.where = " AND ".join(["parent_id IS NULL", *filters])


def _among_newest(wanted: Wanted, depth: int) -> list[int]:
    return _ids(
        f"""
        SELECT id FROM (SELECT id, created_at, subject_folded FROM coordination_message
                        WHERE {wanted.where} {_ORDER}) AS newest
        WHERE {_CONTAINS[connection.vendor]} {_ORDER}
        """,
        [*wanted.values, depth, wanted.needle, wanted.limit],
    )


def _if_not_rare(wanted: Wanted) -> list[int] | None:
    """Return what is wanted if the newest hold it, or hold all there is; None if neither."""
    depth = max(DEEP[connection.vendor], 4 * FEW * wanted.limit)
    found = _among_newest(wanted, depth)
    if len(found) == wanted.limit:
        return found
    deeper = _ids(
        f"SELECT id FROM coordination_message WHERE {wanted.where} {_ORDER} OFFSET %s",
        [*wanted.values, 1, depth],
    )
    return None if deeper else found


def _read_all(wanted: Wanted) -> list[int]:
    """Read in order of time, until there are enough."""
    return _ids(
        f"SELECT id FROM coordination_message WHERE {wanted.where}"
        f" AND {_CONTAINS[connection.vendor]} {_ORDER}",
        [*wanted.values, wanted.needle, wanted.limit],
    )


def _by_trigrams(wanted: Wanted) -> list[int]:
    """Ask pg_trgm's index, unless time is the shorter way.

    Without filters the newest lie together, and are read in less time than the index takes for
    what is common; the statistics, which may be a hundred times wrong, decide where they do not.
    """
    needle = wanted.needle.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    pattern = f"%{needle}%"
    if not wanted.values or _estimate(pattern) > RARE["postgresql"]:
        found = _if_not_rare(wanted)
        if found is not None:
            return found
    # Materialised, so that no plan reads in order of time instead.
    return _ids(
        f"""
        WITH found AS MATERIALIZED (
            SELECT id, created_at FROM coordination_message
            WHERE {wanted.where} AND subject_folded LIKE %s)
        SELECT id FROM found {_ORDER}
        """,
        [*wanted.values, pattern, wanted.limit],
    )


def _estimate(pattern: str) -> int:
    """Return how many questions PostgreSQL expects to match, without a look at them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "EXPLAIN SELECT 1 FROM coordination_message"
            " WHERE parent_id IS NULL AND subject_folded LIKE %s",
            [pattern],
        )
        return int(cursor.fetchone()[0].split("rows=")[1].split(" ")[0])


def _by_fts(wanted: Wanted) -> list[int]:
    """Ask FTS5's index, in the way that its newest proposals make the shortest."""
    pieces, rare = _rarest_pieces(wanted.needle), RARE["sqlite"]
    proposed = _matches(pieces, limit=rare + 1)
    if len(proposed) <= rare:
        return _one_by_one(wanted, proposed)
    expected = DEEP["sqlite"] * rare / (proposed[0] - proposed[-1])
    found = _if_not_rare(wanted) if expected >= wanted.limit else None
    return _walking_back(wanted, pieces) if found is None else found


def _one_by_one(wanted: Wanted, proposed: list[int]) -> list[int]:
    """Look at each message that the index proposes."""
    marks = ", ".join(["%s"] * len(proposed))
    return _ids(
        f"SELECT id FROM coordination_message WHERE id IN ({marks}) AND {wanted.where}"
        f" AND {_CONTAINS['sqlite']} {_ORDER}",
        [*proposed, *wanted.values, wanted.needle, wanted.limit],
    )


def _walking_back(wanted: Wanted, pieces: str) -> list[int]:
    """Go back in time through an index alone, and look at those that are proposed, till enough.

    The plus keeps SQLite from looking at each proposed message first, and sorting them.
    """
    return _ids(
        f"""
        SELECT id FROM coordination_message
        WHERE {wanted.where} AND +id IN (SELECT rowid FROM {_FTS} WHERE {_FTS} MATCH %s)
          AND {_CONTAINS["sqlite"]} {_ORDER}
        """,
        [*wanted.values, pieces, wanted.needle, wanted.limit],
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
    found = _matches(piece, limit=50)
    return found[-1] if len(found) == 50 else 0


def _matches(pieces: str, *, limit: int) -> list[int]:
    return _ids(
        f"SELECT rowid FROM {_FTS} WHERE {_FTS} MATCH %s ORDER BY rowid DESC LIMIT %s",
        [pieces, limit],
    )


def _ids(sql: str, params: Params) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return [row[0] for row in cursor.fetchall()]
