"""The connection class that Django looks for in a database engine's `base` module."""

from typing import Any

from django.db.backends.postgresql import base

LOCK_TIMEOUT = "4500ms"
"""How long a write waits for a row; a call makes two at most, and must answer in 10 s."""

# On a connection to the server itself only. PgBouncer greets with a process number of its own
# making; in transaction mode it would leave the setting to whoever comes next.
_LIMIT = "SELECT set_config('lock_timeout', %s, false) WHERE pg_backend_pid() = %s"


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection on which nothing waits for ever."""

    def _configure_connection(self, connection: Any) -> bool:
        """Set the limits of a session that is ours alone; a pooler's users set them there."""
        super()._configure_connection(connection)  # type: ignore[misc]  # the stubs lack it
        with connection.cursor() as cursor:
            cursor.execute(_LIMIT, [LOCK_TIMEOUT, connection.info.backend_pid])
        return True
