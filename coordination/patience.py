"""How long work may wait for its turn to write, where that is not the usual time."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def patient(until: float) -> Iterator[None]:
    """Let what is done within wait for its turn to write until then (monotonic), all together.

    Only `handoff_site.sqlite` reads it: PostgreSQL's writers queue in order.
    """
    connection.patient_until = until  # type: ignore[attr-defined]
    try:
        yield
    finally:
        connection.patient_until = 0.0  # type: ignore[attr-defined]
