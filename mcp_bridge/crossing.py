"""The one crossing from the event loop to the synchronous domain: one thread, one connection."""

from collections.abc import Callable
from typing import TypeVar

from asgiref.sync import sync_to_async
from django.db import connection
from django.db.utils import Error

Result = TypeVar("Result")


def with_connection(work: Callable[[], Result]) -> Result:
    """Do `work` on a connection that is alive; after an error the next one starts afresh."""
    connection.close_at = None  # as old as it may be: this thread is not a request's
    connection.close_if_unusable_or_obsolete()
    try:
        return work()
    except Error:
        connection.close()
        raise


_cross = sync_to_async(with_connection, thread_sensitive=True)


async def in_database(work: Callable[[], Result]) -> Result:
    """Do `work` in the database's thread."""
    return await _cross(work)
