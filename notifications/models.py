"""Where people are told, what they were told, and who sends: fields and invariants."""

from typing import ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

STALE_MINUTES_MAX = 60 * 24 * 14
ERROR_MAX = 500
"""Characters kept of what a service said."""


class Occasion(models.TextChoices):
    """What a person can ask to be told."""

    AWAITING = "awaiting", _("a step waits for a human")
    FAILED = "failed", _("a step failed")
    BLOCKED = "blocked", _("a step is blocked")
    ASKED = "asked", _("a question to human")
    STALE = "stale", _("a question open to a session that is away")


class Target(models.Model):
    """One address that a person is told at, and what they want to be told there."""

    name = models.CharField(_("name"), max_length=80)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="notification_targets",
        verbose_name=_("who"),
    )
    # The service's address holds its password: only `notifications.sealing` reads it.
    sealed_url = models.TextField(editable=False)
    occasions = models.JSONField(_("when"), default=list)
    stale_minutes = models.PositiveIntegerField(
        _("minutes a question waits"),
        default=60,
        validators=[MinValueValidator(1), MaxValueValidator(STALE_MINUTES_MAX)],
        help_text=_("Before a question open to a session that is away is told."),
    )
    # Keys, not foreign keys: a session deleted must not turn "only these" into "all".
    projects = models.JSONField(
        _("projects"), default=list, blank=True, help_text=_("None chosen: all of them.")
    )
    quiet_from = models.TimeField(_("quiet from"), null=True, blank=True)
    quiet_to = models.TimeField(
        _("quiet until"), null=True, blank=True, help_text=_("What comes meanwhile is sent after.")
    )
    with_bodies = models.BooleanField(
        _("with bodies"),
        default=False,
        help_text=_("Also send what was written: a question's body, a proof, an error."),
    )
    enabled = models.BooleanField(_("enabled"), default=True)
    # Nothing older is told: from when the target was made, or enabled again.
    since = models.DateTimeField(default=timezone.now, editable=False)
    failures = models.PositiveIntegerField(_("failures in a row"), default=0, editable=False)
    last_error = models.CharField(_("last error"), max_length=ERROR_MAX, blank=True, editable=False)
    last_sent_at = models.DateTimeField(_("last sent"), null=True, editable=False)

    class Meta:
        ordering = ("name", "id")
        verbose_name = _("notification target")
        verbose_name_plural = _("notification targets")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(quiet_from__isnull=True, quiet_to__isnull=True)
                | Q(quiet_from__isnull=False, quiet_to__isnull=False),
                name="target_quiet_hours_whole",
            )
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Refuse quiet hours that have no end, or no beginning."""
        if (self.quiet_from is None) != (self.quiet_to is None):
            missing = "quiet_to" if self.quiet_to is None else "quiet_from"
            raise ValidationError({missing: _("Quiet hours need both times, or neither.")})
        if self.quiet_from is not None and self.quiet_from == self.quiet_to:
            said = _("Quiet hours cannot last all day: choose two times, or untick “enabled”.")
            raise ValidationError({"quiet_to": said})


class DeliveryStatus(models.TextChoices):
    """Where a notification stands."""

    # not sent yet, or to be tried again
    PENDING = "pending", pgettext_lazy("notification", "to be sent")
    # handed to the service right now
    SENDING = "sending", pgettext_lazy("notification", "being sent")
    # the service took it
    SENT = "sent", pgettext_lazy("notification", "sent")
    # tried often enough, or for long enough
    FAILED = "failed", pgettext_lazy("notification", "given up")
    # handled, or told anew, before it could be sent
    DROPPED = "dropped", pgettext_lazy("notification", "no longer needed")


UNSENT = (DeliveryStatus.PENDING, DeliveryStatus.SENDING)


class Delivery(models.Model):
    """One notification to one target: what for, and how the sending goes."""

    target = models.ForeignKey(
        Target, models.CASCADE, related_name="deliveries", verbose_name=_("target"), db_index=False
    )
    occasion = models.CharField(_("occasion"), max_length=10, choices=Occasion)
    # "task:34" or "message:12", as the event feed says it.
    subject = models.CharField(_("subject"), max_length=80)
    # The event that it tells of. A question to a session that is away has none: there it is
    # when that session was last seen, in seconds, so that each absence counts once.
    event = models.BigIntegerField(default=0, editable=False)
    status = models.CharField(
        _("status"), max_length=10, choices=DeliveryStatus, default=DeliveryStatus.PENDING
    )
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    next_try_at = models.DateTimeField(_("next attempt"), null=True)
    last_error = models.CharField(_("last error"), max_length=ERROR_MAX, blank=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    finished_at = models.DateTimeField(_("finished"), null=True)

    class Meta:
        ordering = ("-id",)
        verbose_name = _("notification")
        verbose_name_plural = _("notifications")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(status__in=DeliveryStatus.values), name="delivery_status_known"
            ),
            # However often the feed is read again, an event is told once.
            models.UniqueConstraint(
                fields=["target", "occasion", "subject", "event"], name="delivery_once"
            ),
            models.UniqueConstraint(
                fields=["target", "subject"],
                condition=Q(status__in=UNSENT),
                name="delivery_one_unsent_per_subject",
            ),
        ]
        indexes: ClassVar = [
            models.Index("status", "next_try_at", name="delivery_due"),
            models.Index("created_at", name="delivery_age"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} {self.occasion}"


class Duty(models.Model):
    """The one row that says which process sends, until when, and how far it has read the feed."""

    holder = models.CharField(max_length=64, blank=True)
    expires_at = models.DateTimeField(default=timezone.now)
    cursor = models.BigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [models.CheckConstraint(condition=Q(id=1), name="duty_one_row")]

    def __str__(self) -> str:
        return self.holder
