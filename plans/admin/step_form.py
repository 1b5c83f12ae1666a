"""The form of a step's own page."""

from typing import Any

from coordination.admin.base import ServiceForm
from coordination.errors import DomainError, NotFound
from plans.admin import states
from plans.admin.fields import StepFields, initial_for
from plans.forms import FIELDS_OF, rule_text
from plans.models import Task
from plans.selectors.tasks import TaskDetail, task_detail
from plans.services import tasks


class StepForm(StepFields, ServiceForm):
    """One step: added to a plan, or changed where it stands."""

    class Meta:
        model = Task
        fields = ("plan",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.adding = self.instance.pk is None
        self.fields_of = FIELDS_OF
        self.stored: TaskDetail | None = None
        if not self.adding:
            self.initial.update(initial_for(task_detail(task_id=self.instance.pk)))

    def full_clean(self) -> None:
        """Act; after a refusal, show what is stored now if somebody changed it."""
        super().full_clean()
        if self.is_bound and self.errors and not self.adding:
            self._show_newer()

    def perform(self) -> None:
        """Save through the services; their refusals stand at the fields they name."""
        try:
            if self.adding:
                plan_id = self.cleaned_data["plan"].pk
                task = tasks.add_task(actor=self.actor, plan_id=plan_id, **self.validated())
                task_id = task.pk
            else:
                task_id = self.instance.pk
                tasks.patch_task(
                    actor=self.actor,
                    task_id=task_id,
                    version=self.cleaned_data["version"] or 0,
                    **self.validated(),
                )
            self.instance = Task.objects.get(pk=task_id)
        except DomainError as refusal:
            self.refuse(refusal)

    def _post_clean(self) -> None:
        """Leave the instance alone: services write, from the cleaned data."""

    def _show_newer(self) -> None:
        try:
            now = task_detail(task_id=self.instance.pk)
        except NotFound:
            return
        if str(now.version) != self.data.get("version"):
            self.stored = now
            self.stored_rule_text = rule_text(now.validation_rule)
            self.stored_state = states.task_state(now.status)
            self.renew(now)
