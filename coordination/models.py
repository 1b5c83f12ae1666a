"""Sessions, messages, events and tokens: fields and the invariants the database holds."""

import colorsys
from typing import ClassVar

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

HUMAN = "human"
"""Key of the reserved participant under which people ask and answer."""

SUBJECT_MAX = 200
"""Characters in a subject, on every engine."""


class Session(models.Model):
    """An identity an agent works under, which is also a project: one queue of plans."""

    key = models.SlugField(_("key"), primary_key=True, max_length=40)
    color = models.CharField(
        _("colour"),
        max_length=7,
        default="#6366f1",
        validators=[RegexValidator(r"^#[0-9a-fA-F]{6}$", _("Write a colour as #RRGGBB."))],
    )
    description = models.CharField(_("description"), max_length=120, blank=True)
    position = models.PositiveIntegerField(_("position"), default=100)
    last_seen = models.DateTimeField(_("last seen"), null=True, blank=True, editable=False)

    class Meta:
        ordering = ("position", "key")
        verbose_name = _("session")
        verbose_name_plural = _("sessions")

    def __str__(self) -> str:
        return self.key

    @property
    def is_human(self) -> bool:
        """Tell the reserved participant from the agents' sessions."""
        return self.key == HUMAN

    @property
    def hue(self) -> int:
        """Return the hue of the colour, 0-359, from which the board derives both themes."""
        red, green, blue = (int(self.color[i : i + 2], 16) / 255 for i in (1, 3, 5))
        return round(colorsys.rgb_to_hls(red, green, blue)[0] * 360) % 360


class MessageStatus(models.TextChoices):
    """Where a question stands. An answer is stored closed."""

    OPEN = "open", _("open")  # asked, nobody has answered
    ANSWERED = "answered", _("answered")  # at least one answer; more may follow
    CLOSED = "closed", _("closed")  # ended: no further answer


class Message(models.Model):
    """A question (no parent) or one of its answers; there are no deeper threads."""

    parent = models.ForeignKey(
        "self", models.CASCADE, null=True, blank=True, related_name="answers", db_index=False
    )
    from_session = models.ForeignKey(
        Session, models.PROTECT, related_name="sent", verbose_name=_("from"), db_index=False
    )
    to_session = models.ForeignKey(
        Session,
        models.PROTECT,
        related_name="received",
        null=True,
        blank=True,
        verbose_name=_("to"),
        db_index=False,
        help_text=_("Empty: everyone."),
    )
    subject = models.CharField(_("subject"), max_length=SUBJECT_MAX, blank=True)
    # What search compares: case and accents folded by `coordination.text.fold`, which databases
    # do differently from one another. Decomposed letters can be longer than what was typed.
    subject_folded = models.CharField(max_length=4 * SUBJECT_MAX, blank=True, editable=False)
    body = models.TextField(_("body"))
    status = models.CharField(
        _("status"), max_length=10, choices=MessageStatus, default=MessageStatus.OPEN
    )
    created_at = models.DateTimeField(_("created"))
    resolved_at = models.DateTimeField(_("resolved"), null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(status__in=MessageStatus.values), name="message_status_known"
            ),
            models.CheckConstraint(
                condition=Q(parent__isnull=True) | Q(status=MessageStatus.CLOSED),
                name="message_answer_closed",
            ),
            models.CheckConstraint(
                condition=Q(parent__isnull=False) | ~Q(subject=""),
                name="message_question_has_subject",
            ),
            models.CheckConstraint(
                condition=Q(to_session__isnull=True)
                | ~Q(from_session=models.F("to_session"))
                | Q(parent__isnull=False),
                name="message_not_to_oneself",
            ),
            models.CheckConstraint(
                condition=~Q(status=MessageStatus.OPEN) | Q(resolved_at__isnull=True),
                name="message_open_unresolved",
            ),
        ]
        indexes: ClassVar = [
            # Sender and parent last: what waits is counted without a look at each message, which
            # SQLite does only where the index has the parent that its own condition is about.
            models.Index("to_session", "status", "created_at", "id", "from_session", "parent",
                         condition=Q(parent__isnull=True), name="question_inbox"),
            models.Index("created_at", "id",
                         condition=Q(parent__isnull=True), name="question_history"),
            # What filters leave is told from these two alone, without a look at each message.
            models.Index("from_session", "created_at", "id", "to_session", "status",
                         condition=Q(parent__isnull=True), name="question_sent"),
            models.Index("to_session", "created_at", "id", "from_session", "status",
                         condition=Q(parent__isnull=True), name="question_received"),
            models.Index("status", "created_at", "id",
                         condition=Q(parent__isnull=True), name="question_status"),
            # Of answers alone: SQLite would read an inbox through all that have no parent.
            models.Index("parent", "created_at", "id",
                         condition=Q(parent__isnull=False), name="message_thread"),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"#{self.pk} {self.subject}".rstrip()


class Event(models.Model):
    """One change, written in its own transaction: what the boards follow and show as activity."""

    at = models.DateTimeField(db_default=Now())
    actor = models.CharField(_("who"), max_length=200)
    verb = models.CharField(_("what"), max_length=40)
    # "message:12", "task:34", "plan:5", "session:panel": still readable once the row is gone.
    subject = models.CharField(_("subject"), max_length=80)
    data = models.JSONField(default=dict)

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        indexes: ClassVar = [
            models.Index(fields=["at"], name="event_at"),
            models.Index(fields=["subject", "-id"], name="event_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.pk} {self.actor} {self.verb} {self.subject}"


class ApiToken(models.Model):
    """A bearer token for REST, acting for one person. Only its hash is stored."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens", verbose_name=_("user")
    )
    name = models.CharField(_("name"), max_length=80)
    key_hash = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(_("created"), db_default=Now(), editable=False)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True, editable=False)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")

    def __str__(self) -> str:
        return self.name


class AgentToken(models.Model):
    """A bearer token for MCP over HTTP, bound to one session. Only its hash is stored."""

    session = models.ForeignKey(
        Session, models.CASCADE, related_name="agent_tokens", verbose_name=_("session")
    )
    name = models.CharField(_("name"), max_length=80, help_text=_("Which agent, on which machine."))
    key_hash = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(_("created"), db_default=Now(), editable=False)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True, editable=False)
    expires_at = models.DateTimeField(_("expires"))
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("agent token")
        verbose_name_plural = _("agent tokens")
        constraints: ClassVar = [
            models.CheckConstraint(condition=~Q(session=HUMAN), name="agent_token_not_human")
        ]

    def __str__(self) -> str:
        return self.name
