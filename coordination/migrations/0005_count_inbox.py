"""Count what waits for a session from the index alone, and thread answers only."""

from django.db import migrations, models


def index(name: str, *columns: str, questions: bool) -> models.Index:
    """Return an index of questions, or of answers."""
    condition = models.Q(("parent__isnull", questions))
    return models.Index(*map(models.F, columns), condition=condition, name=name)


class Migration(migrations.Migration):
    """Make two indexes anew; nothing stored changes."""

    dependencies = [("coordination", "0004_search")]
    operations = [
        migrations.RemoveIndex("message", "question_inbox"),
        migrations.RemoveIndex("message", "message_thread"),
        migrations.AddIndex(
            "message",
            index(
                "question_inbox",
                *("to_session", "status", "created_at", "id", "from_session", "parent"),
                questions=True,
            ),
        ),
        migrations.AddIndex(
            "message",
            index("message_thread", "parent", "created_at", "id", questions=False),
        ),
    ]
