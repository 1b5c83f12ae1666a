"""The plans' side of the event feed: what happened to a plan or a step.

An event's subject is "task:ID" or "plan:ID"; its data always has the plan's id, the project and a
title, so that a board knows what to redraw, and the activity list what to say, without a join.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _

from coordination import events
from coordination.actors import Actor
from plans.models import Plan
from plans.states import TaskEvent


class Verb(models.TextChoices):
    """What happened; `coordination.events.Verb` has those of sessions and messages."""

    PLAN_CREATED = "plan_created", _("created the plan")
    PLAN_RENAMED = "plan_renamed", _("renamed the plan")
    PLAN_PAUSED = "plan_paused", _("paused the plan")
    PLAN_RESUMED = "plan_resumed", _("resumed the plan")
    PLAN_ARCHIVED = "plan_archived", _("archived the plan")
    PLAN_DONE = "plan_done", _("finished the plan")
    PLAN_REOPENED = "plan_reopened", _("reopened the plan")
    PLAN_DELETED = "plan_deleted", _("deleted the plan")
    PLAN_IMPORTED = "plan_imported", _("imported the plan")
    QUESTION_IMPORTED = "question_imported", _("imported the question")
    TASK_ADDED = "task_added", _("added the step")
    TASK_EDITED = "task_edited", _("edited the step")
    TASK_MOVED = "task_moved", _("moved the step")
    TASK_DELETED = "task_deleted", _("deleted the step")
    TASK_PROMOTED = "task_promoted", _("began the step")
    TASK_SUBMITTED = "task_submitted", _("submitted the step")
    TASK_VALIDATING = "task_validating", _("is having the step checked")
    TASK_PASSED = "task_passed", _("finished the step")
    TASK_RETRIED = "task_retried", _("must try the step again")
    TASK_FAILED = "task_failed", _("failed the step")
    TASK_BLOCKED = "task_blocked", _("is blocked on the step")
    TASK_VALIDATED = "task_validated", _("validated the step")
    TASK_REJECTED = "task_rejected", _("sent the step back")
    TASK_RESET = "task_reset", _("reset the step")
    TASK_SKIPPED = "task_skipped", _("skipped the step")
    TASK_CRASHED = "task_crashed", _("lost the runner of the step")


VERB_OF = {
    TaskEvent.PROMOTE: Verb.TASK_PROMOTED,
    TaskEvent.SUBMIT: Verb.TASK_SUBMITTED,
    TaskEvent.BEGIN: Verb.TASK_VALIDATING,
    TaskEvent.PASS: Verb.TASK_PASSED,
    TaskEvent.RETRY: Verb.TASK_RETRIED,
    TaskEvent.FAIL: Verb.TASK_FAILED,
    TaskEvent.BLOCK: Verb.TASK_BLOCKED,
    TaskEvent.VALIDATE: Verb.TASK_VALIDATED,
    TaskEvent.REJECT: Verb.TASK_REJECTED,
    TaskEvent.RESET: Verb.TASK_RESET,
    TaskEvent.SKIP: Verb.TASK_SKIPPED,
    TaskEvent.CRASH: Verb.TASK_CRASHED,
}
"""How the feed calls each row of the transition table."""


def plan_changed(*, actor: Actor, verb: Verb, plan: Plan) -> None:
    """Record a change of the plan itself."""
    events.append(
        actor=actor,
        verb=verb,
        subject=f"plan:{plan.pk}",
        plan=plan.pk,
        project=plan.project_id,
        title=plan.title,
    )


def task_changed(*, actor: Actor, verb: Verb, plan: Plan, task_id: int, title: str) -> None:
    """Record a change of one of the plan's steps."""
    events.append(
        actor=actor,
        verb=verb,
        subject=f"task:{task_id}",
        plan=plan.pk,
        project=plan.project_id,
        title=title,
    )
