"""Index the subjects by their three-letter pieces, for search among very many."""

import logging

from django.apps.registry import Apps
from django.db import DatabaseError, migrations, models, transaction
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

logger = logging.getLogger(__name__)

# Without the subjects themselves, which the message has, and without positions in them.
SQLITE = (
    """
    CREATE VIRTUAL TABLE coordination_message_search USING fts5(
        subject_folded, content='coordination_message', content_rowid='id',
        tokenize='trigram case_sensitive 1', detail=none, columnsize=0)
    """,
    """
    CREATE TRIGGER coordination_message_search_insert AFTER INSERT ON coordination_message
    WHEN new.subject_folded <> '' BEGIN
        INSERT INTO coordination_message_search (rowid, subject_folded)
        VALUES (new.id, new.subject_folded);
    END
    """,
    """
    CREATE TRIGGER coordination_message_search_delete AFTER DELETE ON coordination_message
    WHEN old.subject_folded <> '' BEGIN
        INSERT INTO coordination_message_search (coordination_message_search, rowid, subject_folded)
        VALUES ('delete', old.id, old.subject_folded);
    END
    """,
    """
    CREATE TRIGGER coordination_message_search_update
    AFTER UPDATE OF id, subject_folded ON coordination_message
    WHEN old.id <> new.id OR old.subject_folded <> new.subject_folded BEGIN
        INSERT INTO coordination_message_search (coordination_message_search, rowid, subject_folded)
        VALUES ('delete', old.id, old.subject_folded);
        INSERT INTO coordination_message_search (rowid, subject_folded)
        VALUES (new.id, new.subject_folded);
    END
    """,
    """
    INSERT INTO coordination_message_search (rowid, subject_folded)
    SELECT id, subject_folded FROM coordination_message WHERE subject_folded <> ''
    """,
)

# Up to date at every commit: with fastupdate each search would read a list of what is pending.
# `coordination.checks` says how to make it by hand.
POSTGRESQL = """
CREATE INDEX question_subject_pieces ON coordination_message
USING gin (subject_folded gin_trgm_ops) WITH (fastupdate = off) WHERE parent_id IS NULL
"""


def index_subjects(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Make the index; a PostgreSQL that forbids the extension keeps searching, slowly."""
    connection = editor.connection
    if connection.vendor == "sqlite":
        for statement in SQLITE:
            editor.execute(statement)
        return
    try:
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            cursor.execute(POSTGRESQL)
    except DatabaseError as error:
        logger.warning("search has no index: %s", str(error).split("\n")[0])


def drop_index(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Drop the index; the extension may serve others."""
    if editor.connection.vendor == "sqlite":
        for event in ("insert", "delete", "update"):
            editor.execute(f"DROP TRIGGER coordination_message_search_{event}")
        editor.execute("DROP TABLE coordination_message_search")
    else:
        editor.execute("DROP INDEX IF EXISTS question_subject_pieces")


class Migration(migrations.Migration):
    """Add an index only; going back drops it."""

    dependencies = [("coordination", "0003_agent_tokens")]
    operations = [
        migrations.RemoveIndex("message", "question_sent"),
        *(
            migrations.AddIndex(
                "message",
                models.Index(
                    *map(models.F, (one, "created_at", "id", other, "status")),
                    condition=models.Q(("parent__isnull", True)),
                    name=name,
                ),
            )
            for one, other, name in (
                ("from_session", "to_session", "question_sent"),
                ("to_session", "from_session", "question_received"),
            )
        ),
        migrations.RunPython(index_subjects, drop_index),
    ]
