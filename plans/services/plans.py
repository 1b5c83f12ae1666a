"""Create, rename, pause, resume, archive, delete plans."""

from dataclasses import asdict

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.actors import Actor
from coordination.errors import Conflict, Forbidden, Invalid, Stale
from coordination.models import HUMAN, Session
from coordination.text import checked_line, fold, require
from plans.events import Verb, plan_changed
from plans.models import TITLE_MAX, Plan, PlanStatus, Task
from plans.selectors.plans import no_such_plan, plan_row
from plans.states import TaskStatus

SETTABLE = (PlanStatus.ACTIVE, PlanStatus.PAUSED, PlanStatus.ARCHIVED)
"""What a person may set; `done` follows from the steps."""
_VERB_OF = {
    PlanStatus.ACTIVE: Verb.PLAN_RESUMED,
    PlanStatus.PAUSED: Verb.PLAN_PAUSED,
    PlanStatus.ARCHIVED: Verb.PLAN_ARCHIVED,
}


def create_plan(*, actor: Actor, project: str, title: str) -> Plan:
    """Add a plan at the end of a project's queue.

    Raises:
        MissingFields, Invalid: a blank or over-long value, or not an agents' project.
        Forbidden: an agent cannot plan.
    """
    people_only(actor)
    require(project=project, title=title)
    title = checked_line("title", title, maximum=TITLE_MAX)
    projects = Session.objects.exclude(key=HUMAN).values_list("key", flat=True)
    if project not in projects:
        raise Invalid(
            "project",
            _("{field}: unknown project {key!r}. Known projects: {known}.").format(
                field="project", key=project[:60], known=", ".join(projects)
            ),
        )
    now = timezone.now()
    with transaction.atomic():
        plan = Plan.objects.create(project_id=project, title=title, created_at=now, updated_at=now)
        plan_changed(actor=actor, verb=Verb.PLAN_CREATED, plan=plan)
    return plan


def patch_plan(
    *,
    actor: Actor,
    plan_id: int,
    title: str | None = None,
    status: str | None = None,
    version: int | None = None,
) -> None:
    """Rename a plan, or pause, resume or archive it. What is None stays.

    `version` is the one the person saw: a newer one refuses the change.

    Raises:
        NotFound, MissingFields, Invalid, Forbidden.
        Conflict: the plan has an active step, or is done. Stale: somebody saved meanwhile.
    """
    people_only(actor)
    if title is not None:
        require(title=title)
        title = checked_line("title", title, maximum=TITLE_MAX)
    if status is not None and status not in SETTABLE:
        raise Invalid(
            "status",
            _("{field}: choose one of {choices}.").format(
                field="status", choices=", ".join(SETTABLE)
            ),
        )
    with transaction.atomic():
        plan = lock(plan_id)
        if version is not None and version != plan.version:
            raise stale_plan(plan_id)
        if title is not None and title != plan.title:
            _rename(actor, plan, title)
        if status is not None and status != plan.status:
            _set_status(actor, plan, PlanStatus(status))


def delete_plan(*, actor: Actor, plan_id: int, version: int | None = None) -> None:
    """Delete a plan with its steps.

    Raises:
        NotFound, Forbidden. Conflict: it has an active step. Stale: somebody saved meanwhile.
    """
    people_only(actor)
    with transaction.atomic():
        plan = lock(plan_id)
        if version is not None and version != plan.version:
            raise stale_plan(plan_id)
        _refuse_if_active(plan)
        plan_changed(actor=actor, verb=Verb.PLAN_DELETED, plan=plan)
        Plan.objects.filter(pk=plan_id).delete()


def lock(plan_id: int) -> Plan:
    """Return a plan that no other process can change, nor its steps, before this transaction ends.

    SQLite's transactions hold its only write lock from their start; PostgreSQL locks the row.

    Raises:
        NotFound: no such plan.
    """
    plan = Plan.objects.select_for_update(no_key=True).filter(pk=plan_id).first()
    if plan is None:
        raise no_such_plan(plan_id)
    return plan


def settle(*, actor: Actor, plan: Plan) -> None:
    """Note that the plan changed, and let its status follow its steps. Holds the plan's lock.

    Every step settled, and some there: done. Otherwise a done plan is active again; a paused or
    archived one stays what a person made it.
    """
    steps = Task.objects.filter(plan=plan)
    done = not steps.filter(settled=False).exists() and steps.exists()
    target, verb = plan.status, Verb.PLAN_DONE
    if done and plan.status in {PlanStatus.ACTIVE, PlanStatus.PAUSED}:
        target = PlanStatus.DONE
    elif not done and plan.status == PlanStatus.DONE:
        target, verb = PlanStatus.ACTIVE, Verb.PLAN_REOPENED
    if target == plan.status:
        Plan.objects.filter(pk=plan.pk).update(updated_at=timezone.now())
    else:
        _write(plan, status=target)
        plan_changed(actor=actor, verb=verb, plan=plan)


def people_only(actor: Actor) -> None:
    """Refuse an agent what only people do."""
    if not actor.is_human:
        raise Forbidden(_("only a human may do this; ask with mf_ask."))


def stale_plan(plan_id: int) -> Stale:
    """Return the refusal of a change made over somebody else's newer one."""
    return Stale(
        _("plan #{id} was changed meanwhile: look at it again, then redo your change.").format(
            id=plan_id
        ),
        data={"current": asdict(plan_row(plan_id=plan_id))},
    )


def _rename(actor: Actor, plan: Plan, title: str) -> None:
    _write(plan, title=title, title_folded=fold(title))
    plan_changed(actor=actor, verb=Verb.PLAN_RENAMED, plan=plan)


def _set_status(actor: Actor, plan: Plan, status: PlanStatus) -> None:
    if status == PlanStatus.ARCHIVED:
        _refuse_if_active(plan)
    elif plan.status == PlanStatus.DONE:
        raise Conflict(
            _("plan #{id} is done: add a step to open it again.").format(id=plan.pk),
            code="plan_done",
        )
    _write(plan, status=status)
    plan_changed(actor=actor, verb=_VERB_OF[status], plan=plan)
    settle(actor=actor, plan=plan)


def _write(plan: Plan, **values: str) -> None:
    """Store new values of a locked plan, and show them on the instance for its event."""
    version = plan.version + 1
    Plan.objects.filter(pk=plan.pk).update(updated_at=timezone.now(), version=version, **values)
    plan.version = version
    for name, value in values.items():
        setattr(plan, name, value)


def _refuse_if_active(plan: Plan) -> None:
    active = Task.objects.filter(plan=plan, active=True).values_list("pk", "status").first()
    if active:
        raise Conflict(
            _(
                "plan #{id} has an active step, #{task} ({status}): finish or skip it first, "
                "or pause the plan."
            ).format(id=plan.pk, task=active[0], status=TaskStatus(active[1]).label),
            code="active_step",
        )
