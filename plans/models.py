"""Plans and their steps: fields and the invariants the database holds."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from coordination.models import HUMAN, Session
from coordination.text import FoldedField
from plans.states import ACTIVE, SETTLED, PlanStatus, TaskStatus

__all__ = ["ImportedRow", "Plan", "PlanStatus", "Task", "TaskStatus", "ValidationMode"]

TITLE_MAX = 200
"""Characters in a title, on every engine."""
MAX_ATTEMPTS = 100


class ValidationMode(models.TextChoices):
    """Who decides that a step is done."""

    # a person looks and says so
    MANUAL = "manual", pgettext_lazy("validation", "by a human")
    # its exit status says so
    SHELL = "shell", pgettext_lazy("validation", "by a command")
    # files and addresses say so
    ARTIFACT = "artifact", pgettext_lazy("validation", "by what exists")


class Plan(models.Model):
    """An ordered list of steps for one project."""

    project = models.ForeignKey(
        Session,
        models.PROTECT,
        related_name="plans",
        verbose_name=_("project"),
        db_index=False,
        limit_choices_to=~Q(key=HUMAN),
    )
    title = models.CharField(_("title"), max_length=TITLE_MAX)
    title_folded = FoldedField("title", max_length=4 * TITLE_MAX)
    status = models.CharField(
        _("status"), max_length=10, choices=PlanStatus, default=PlanStatus.ACTIVE
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    # Moves with every change of the plan or of one of its steps.
    updated_at = models.DateTimeField(_("updated"), default=timezone.now, editable=False)
    # Counts the changes of title and status alone: what a form that edits them must not miss.
    version = models.PositiveIntegerField(default=1, editable=False)

    class Meta:
        ordering = ("created_at", "id")
        verbose_name = _("plan")
        verbose_name_plural = _("plans")
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=PlanStatus.values), name="plan_status_known"
            ),
            models.CheckConstraint(condition=~Q(title=""), name="plan_has_title"),
            models.CheckConstraint(condition=~Q(project=HUMAN), name="plan_not_of_human"),
        ]
        indexes = [
            models.Index("project", "status", "created_at", "id", name="plan_queue"),
            models.Index("created_at", "id", name="plan_order"),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} {self.title}"


def _is_one_of(statuses: tuple[TaskStatus, ...]) -> models.Case:
    """Return whether a step's status is among `statuses`, for the database to compute."""
    return models.Case(
        models.When(status__in=statuses, then=models.Value(True)), default=models.Value(False)
    )


class Task(models.Model):
    """One atomic step of a plan.

    Order is (position, id), so equal positions have an order too. They are not unique: a swap
    would need a deferred constraint, which SQLite lacks. Writers take the plan's lock instead
    (`services.plans.lock`), so that appending and moving never produce equal ones.
    """

    plan = models.ForeignKey(
        Plan, models.CASCADE, related_name="tasks", verbose_name=_("plan"), db_index=False
    )
    position = models.IntegerField(_("position"))
    title = models.CharField(_("title"), max_length=TITLE_MAX)
    title_folded = FoldedField("title", max_length=4 * TITLE_MAX)
    instructions = models.TextField(_("instructions"))
    validation_mode = models.CharField(
        _("validation"), max_length=10, choices=ValidationMode, default=ValidationMode.MANUAL
    )
    validation_rule = models.JSONField(_("validation rule"), null=True, blank=True)
    max_attempts = models.PositiveSmallIntegerField(
        _("attempts allowed"),
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_ATTEMPTS)],
    )
    status = models.CharField(
        _("status"),
        max_length=15,
        choices=TaskStatus,
        default=TaskStatus.PENDING,
        editable=False,
    )
    # Both kept by the database: its indexes can follow them. SQLite does not match an index on a
    # list of statuses with a query whose statuses are bound, and would read the whole plan.
    active = models.GeneratedField(
        expression=_is_one_of(ACTIVE), output_field=models.BooleanField(), db_persist=True
    )
    settled = models.GeneratedField(
        expression=_is_one_of(SETTLED), output_field=models.BooleanField(), db_persist=True
    )
    status_since = models.DateTimeField(_("since"), default=timezone.now, editable=False)
    attempts = models.PositiveIntegerField(_("attempts"), default=0, editable=False)
    last_proof = models.TextField(_("proof"), blank=True, editable=False)
    last_error = models.TextField(_("error"), blank=True, editable=False)
    started_at = models.DateTimeField(_("started"), null=True, blank=True, editable=False)
    completed_at = models.DateTimeField(_("completed"), null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    updated_at = models.DateTimeField(_("updated"), default=timezone.now, editable=False)
    # Counts changes of text, rule and state; a move is none of them, and spoils nobody's edit.
    version = models.PositiveIntegerField(default=1, editable=False)
    # While validating: which runner holds it, and until when it counts as alive.
    runner_id = models.CharField(max_length=80, blank=True, editable=False)
    lease_expires_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("position", "id")
        verbose_name = _("step")
        verbose_name_plural = _("steps")
        constraints = [
            models.UniqueConstraint(
                fields=["plan"],
                condition=Q(active=True),
                name="task_one_active_per_plan",
                violation_error_message=_("This plan already has an active step."),
            ),
            models.CheckConstraint(
                condition=Q(status__in=TaskStatus.values), name="task_status_known"
            ),
            models.CheckConstraint(
                condition=Q(validation_mode__in=ValidationMode.values), name="task_mode_known"
            ),
            models.CheckConstraint(
                condition=Q(max_attempts__gte=1, max_attempts__lte=MAX_ATTEMPTS),
                name="task_max_attempts_range",
            ),
            models.CheckConstraint(condition=~Q(title=""), name="task_has_title"),
        ]
        indexes = [
            models.Index("plan", "position", "id", name="task_order"),
            models.Index("plan", "status", name="task_plan_status"),
            models.Index(
                "plan", "position", "id", condition=Q(settled=False), name="task_unsettled"
            ),
            models.Index("status", "status_since", "id", name="task_waiting"),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} {self.title}"


class ImportedRow(models.Model):
    """A row of another system's file that is here already, so that importing again adds nothing."""

    table = models.CharField(max_length=20)
    source_id = models.BigIntegerField()
    # Of what never changes in the source row: two files number their rows alike.
    digest = models.CharField(max_length=64)
    local_id = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint("table", "source_id", "digest", name="imported_row_once")
        ]

    def __str__(self) -> str:
        return f"{self.table} {self.source_id} → {self.local_id}"
