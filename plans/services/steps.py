"""Give an agent its one step, and hold a validation under its runner's lease."""

import datetime as dt

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.actors import Actor
from coordination.errors import Conflict, NotFound
from coordination.text import checked_text, require
from plans.errors import ONE_ACTIVE, breaks
from plans.models import Task, ValidationMode
from plans.selectors.tasks import NextStep, TaskDetail, deciding_step, lease_is_over, task_detail
from plans.services.tasks import locked
from plans.services.transitions import apply, check_agent, wrong_mode
from plans.states import TaskEvent, TaskStatus

RUNNER_CRASHED = "runner_crashed"
"""`last_error` of a step whose runner died."""
LOOKS = 5
"""How often a look starts again when others change what it saw."""


def next_step(*, actor: Actor) -> NextStep:
    """Return the one step that decides for the actor's project, promoting it if it is its turn.

    Calling again changes nothing: then it is a read, without any lock. Of twenty processes that
    promote at once, one does, and all return the same step.

    Raises:
        Conflict: the queue changed at every look; call again.
    """
    for _look in range(LOOKS):
        found = deciding_step(project=actor.session)
        if found.task is None:
            return found
        if lease_is_over(found.task):
            expire_leases(plan_id=found.task.plan_id)
        elif found.kind != TaskStatus.PENDING:
            return found
        else:
            _promote(actor, found.task)
    raise Conflict(_("the plan is being changed right now; call mf_next_step again."))


def _promote(actor: Actor, seen: TaskDetail) -> None:
    """Make a pending step the current one, if it still is the one that decides."""
    try:
        with transaction.atomic():
            plan, task = locked(seen.id)
            now_deciding = deciding_step(project=actor.session).task
            if now_deciding is None or now_deciding.id != seen.id or task.status != seen.status:
                return
            apply(actor, TaskEvent.PROMOTE, plan, task, started_at=timezone.now())
    except IntegrityError as error:
        # The lock rules this out; the index is there in case somebody writes without it.
        if not breaks(error, ONE_ACTIVE):
            raise


def begin_validation(*, actor: Actor, task_id: int, runner_id: str) -> TaskDetail:
    """Take the current step to validation, held by `runner_id`; of two at once, one succeeds.

    The runner must then renew the lease, and end with `finish_validation`.

    Raises:
        NotFound, Forbidden, Conflict.
    """
    require(runner_id=runner_id)
    with transaction.atomic():
        plan, task = locked(task_id)
        check_agent(actor, TaskEvent.BEGIN, plan, task)
        if task.validation_mode == ValidationMode.MANUAL:
            raise wrong_mode(task)
        apply(
            actor,
            TaskEvent.BEGIN,
            plan,
            task,
            attempts=F("attempts") + 1,
            runner_id=runner_id,
            lease_expires_at=_lease_end(),
        )
    return task_detail(task_id=task_id)


def renew_lease(*, task_id: int, runner_id: str) -> bool:
    """Say that the runner lives; False when it holds the step no more and must stop."""
    return bool(_held(task_id, runner_id).update(lease_expires_at=_lease_end()))


def finish_validation(
    *,
    actor: Actor,
    task_id: int,
    runner_id: str,
    passed: bool,
    evidence: str,
    error: str = "",
    final: bool = False,
) -> TaskDetail | None:
    """End the validation that `runner_id` holds: done, another attempt, or failed.

    `final` says that no further attempt could pass. None when the runner no longer holds the
    step: what others did meanwhile stands.
    """
    evidence, error = checked_text("evidence", evidence), checked_text("error", error)
    with transaction.atomic():
        try:
            plan, task = locked(task_id)
        except NotFound:
            return None  # deleted meanwhile
        if not _held(task_id, runner_id).exists():
            return None
        retry = not final and task.attempts < task.max_attempts
        event = TaskEvent.PASS if passed else TaskEvent.RETRY if retry else TaskEvent.FAIL
        apply(
            actor,
            event,
            plan,
            task,
            last_proof=evidence,
            last_error="" if passed else error,
            **_NO_LEASE,
        )
    return task_detail(task_id=task_id)


def expire_leases(*, plan_id: int | None = None) -> int:
    """Fail the steps whose runner died, in one plan or in all; return how many there were.

    A live runner renews its lease, so that its step is never touched.
    """
    over = Task.objects.filter(_over(), status=TaskStatus.VALIDATING)
    if plan_id is not None:
        over = over.filter(plan=plan_id)
    return sum(_expire(task_id) for task_id in list(over.values_list("pk", flat=True)))


def _expire(task_id: int) -> bool:
    with transaction.atomic():
        try:
            plan, task = locked(task_id)
        except NotFound:
            return False  # deleted since
        if not Task.objects.filter(_over(), pk=task_id, status=TaskStatus.VALIDATING).exists():
            return False  # renewed or finished since
        apply(
            Actor.agent(plan.project_id),
            TaskEvent.CRASH,
            plan,
            task,
            last_error=RUNNER_CRASHED,
            **_NO_LEASE,
        )
    return True


_NO_LEASE = {"runner_id": "", "lease_expires_at": None}


def _held(task_id: int, runner_id: str) -> QuerySet[Task]:
    return Task.objects.filter(pk=task_id, status=TaskStatus.VALIDATING, runner_id=runner_id)


def _over() -> Q:
    return Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lte=timezone.now())


def _lease_end() -> dt.datetime:
    return timezone.now() + dt.timedelta(seconds=settings.LEASE_SECONDS)
