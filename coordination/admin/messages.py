"""Questions: read a thread, ask, answer and close as `human`; nobody rewrites what was said."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldBooleanWidget

from coordination.actors import Actor
from coordination.admin.base import FoldedSearchAdmin, ServiceForm
from coordination.models import HUMAN, Message, MessageStatus, Session
from coordination.selectors.messages import thread
from coordination.services import messages

SAID = ("sender", "addressee", "subject", "status", "created_at", "resolved_at", "conversation")


class QuestionForm(ServiceForm):
    """Ask one session, or everyone."""

    class Meta:
        model = Message
        fields = ("to_session", "subject", "body")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "to_session" in self.fields:
            agents = Session.objects.exclude(key=HUMAN)
            self.fields["to_session"].queryset = agents  # type: ignore[attr-defined]
            self.fields["subject"].required = True

    def perform(self) -> None:
        """Ask through the service."""
        to: Session | None = self.cleaned_data["to_session"]
        subject, body = self.cleaned_data["subject"], self.cleaned_data["body"]
        if to is None:
            self.instance = messages.broadcast(actor=self.actor, subject=subject, body=body)
        else:
            self.instance = messages.ask(actor=self.actor, to=to.key, subject=subject, body=body)


class ReplyForm(ServiceForm):
    """Answer a question, close it, or both."""

    answer = forms.CharField(
        label=_("Your answer"), required=False, widget=UnfoldAdminTextareaWidget()
    )
    close = forms.BooleanField(
        label=_("Close the question"), required=False, widget=UnfoldBooleanWidget()
    )

    class Meta:
        model = Message
        fields: ClassVar[list[str]] = []

    def clean(self) -> dict[str, Any]:
        """Ask for one of the two."""
        data = super().clean() or self.cleaned_data
        if not data.get("answer") and not data.get("close"):
            self.add_error(None, _("Write an answer, or tick the box to close the question."))
        return data

    def perform(self) -> None:
        """Answer, then close, through the services."""
        if body := self.cleaned_data["answer"]:
            messages.answer(actor=self.actor, message_id=self.instance.pk, body=body)
        if self.cleaned_data["close"]:
            messages.close(actor=self.actor, message_id=self.instance.pk)


class MessageAdmin(FoldedSearchAdmin):
    """List and search questions; open one to read it whole and reply."""

    list_display = ("id", "subject", "sender", "addressee", "status", "answer_count", "created_at")
    list_display_links = ("id", "subject")
    list_filter = ("status", "from_session", "to_session")
    search_fields = ("subject_folded__contains",)
    search_help_text = _("Subject, or #number")
    actions = ("close_selected",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        """Show questions, each with its number of answers; those are read in the thread."""
        answers = Message.objects.filter(parent=OuterRef("pk")).order_by().values("parent")
        return (
            super()
            .get_queryset(request)
            .filter(parent__isnull=True)
            .annotate(answer_total=Subquery(answers.annotate(n=Count("pk")).values("n")))
        )

    def get_form(
        self,
        request: HttpRequest,
        obj: Message | None = None,
        change: bool = False,
        **kwargs: Any,
    ) -> type[forms.ModelForm]:
        """Ask on the page that adds, reply on the page that changes."""
        kwargs["form"] = ReplyForm if obj else QuestionForm
        return super().get_form(request, obj, change=change, **kwargs)

    def get_fields(self, request: HttpRequest, obj: Message | None = None) -> tuple[str, ...]:
        """Show what was said, and room to reply while the question takes one."""
        if obj is None:
            return QuestionForm.Meta.fields
        return (*SAID, "answer", "close") if self.has_change_permission(request, obj) else SAID

    def get_readonly_fields(
        self, request: HttpRequest, obj: Message | None = None
    ) -> tuple[str, ...]:
        """Keep what was said."""
        return SAID if obj else ()

    def has_change_permission(self, request: HttpRequest, obj: Message | None = None) -> bool:
        """Offer no reply to a closed question."""
        allowed = super().has_change_permission(request, obj)
        return allowed and (obj is None or obj.status != MessageStatus.CLOSED)

    @admin.display(description=_("from"), ordering="from_session")
    def sender(self, message: Message) -> str:
        """Return the asking session's key."""
        return message.from_session_id

    @admin.display(description=_("to"), ordering="to_session")
    def addressee(self, message: Message) -> str:
        """Return the addressee's key; nobody in particular is everyone."""
        return message.to_session_id or gettext("everyone")

    @admin.display(description=_("answers"))
    def answer_count(self, message: Message) -> int:
        """Return how many answers there are."""
        return message.answer_total or 0  # type: ignore[attr-defined]

    @admin.display(description=_("thread"))
    def conversation(self, message: Message) -> str:
        """Return the question and its answers as plain text in HTML."""
        found = thread(message_id=message.pk)
        return render_to_string("admin/coordination/message/thread.html", {"thread": found})

    @admin.action(description=_("Close the selected questions"), permissions=["change"])
    def close_selected(self, request: HttpRequest, queryset: QuerySet[Message]) -> None:
        """Close each through the service."""
        actor = Actor.human(request.user.get_username())
        for message_id in queryset.values_list("pk", flat=True):
            messages.close(actor=actor, message_id=message_id)
        self.message_user(request, _("The selected questions are closed."))

    def remove(self, actor: Actor, obj: Message) -> None:
        """Delete the question with its answers."""
        messages.delete(actor=actor, message_id=obj.pk)
