"""The form by which people ask, shared by the doors that show one."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from coordination.models import SUBJECT_MAX


class QuestionForm(forms.Form):
    """A question from people to one session, or to everyone."""

    to = forms.ChoiceField(label=_("To"), required=False)
    subject = forms.CharField(label=_("Subject"), max_length=SUBJECT_MAX)
    body = forms.CharField(label=_("Question (Markdown)"), widget=forms.Textarea({"rows": 6}))

    def __init__(self, *args: Any, sessions: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["to"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = [("", _("everyone")), *((key, key) for key in sessions)]
