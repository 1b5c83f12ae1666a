"""Store each title as search compares it."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from coordination.text import FoldedField, fold

BATCH = 2000


def fold_titles(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Fold the titles that are there already."""
    for name in ("Plan", "Task"):
        model = apps.get_model("plans", name)
        rows = model.objects.only("pk", "title").order_by("pk")
        last = 0
        while batch := list(rows.filter(pk__gt=last)[:BATCH]):
            for row in batch:
                row.title_folded = fold(row.title)
            model.objects.bulk_update(batch, ["title_folded"], batch_size=200)
            last = batch[-1].pk


class Migration(migrations.Migration):
    """Add a column to plans and steps, and fill it."""

    dependencies = [("plans", "0001_initial")]
    operations = [
        *(
            migrations.AddField(
                model,
                "title_folded",
                FoldedField("title", blank=True, default="", editable=False, max_length=800),
            )
            for model in ("plan", "task")
        ),
        migrations.RunPython(fold_titles, migrations.RunPython.noop),
    ]
