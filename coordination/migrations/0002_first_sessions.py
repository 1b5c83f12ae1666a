"""Give a new database its first participants: two agents' sessions and the people's own."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

FIRST = (
    {"key": "panel", "color": "#6366f1", "position": 10},
    {"key": "app", "color": "#0d9488", "position": 20},
    {"key": "human", "color": "#d97706", "position": 1000},
)


def add_first_sessions(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Add the rows that are not there yet."""
    model = apps.get_model("coordination", "Session")
    for row in FIRST:
        model.objects.get_or_create(key=row["key"], defaults=row)


class Migration(migrations.Migration):
    """Add rows only; going back keeps them."""

    dependencies = [("coordination", "0001_initial")]
    operations = [migrations.RunPython(add_first_sessions, migrations.RunPython.noop)]
