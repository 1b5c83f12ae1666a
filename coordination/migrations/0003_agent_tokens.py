"""Tokens for remote agents, each bound to one session."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    """Add a table."""

    dependencies = [
        ("coordination", "0002_first_sessions"),
    ]

    operations = [
        migrations.CreateModel(
            name="AgentToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="Which agent, on which machine.",
                        max_length=80,
                        verbose_name="name",
                    ),
                ),
                ("key_hash", models.CharField(editable=False, max_length=64, unique=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        verbose_name="created",
                    ),
                ),
                (
                    "last_used_at",
                    models.DateTimeField(
                        blank=True, editable=False, null=True, verbose_name="last used"
                    ),
                ),
                ("expires_at", models.DateTimeField(verbose_name="expires")),
                (
                    "revoked_at",
                    models.DateTimeField(
                        blank=True, editable=False, null=True, verbose_name="revoked"
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="agent_tokens",
                        to="coordination.session",
                        verbose_name="session",
                    ),
                ),
            ],
            options={
                "verbose_name": "agent token",
                "verbose_name_plural": "agent tokens",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("session", "human"), _negated=True),
                        name="agent_token_not_human",
                    )
                ],
            },
        ),
    ]
