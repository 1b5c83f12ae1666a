"""What must hold in stored plans and steps, whoever wrote them: `manage.py check_store`."""

from collections.abc import Iterator

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.selectors.soundness import Finding, faults, notes
from plans.models import Plan, PlanStatus, Task, ValidationMode
from plans.states import TaskStatus


def findings() -> Iterator[Finding]:
    """Look at every plan, then at every step."""
    yield from _of_plans()
    yield from _of_steps()
    yield from _of_leases()


def _of_plans() -> Iterator[Finding]:
    steps = Task.objects.filter(plan=OuterRef("pk"))
    unsettled = Exists(steps.filter(settled=False))
    crowded = Plan.objects.annotate(
        working=Count("tasks", filter=Q(tasks__active=True)),
    ).filter(working__gt=1)
    yield from faults(crowded, _("{count} plans have more than one active step ({ids})."))
    yield from faults(
        Plan.objects.filter(Exists(steps.filter(active=True)), status=PlanStatus.ARCHIVED),
        _("{count} archived plans have an active step ({ids})."),
    )
    yield from faults(
        Plan.objects.filter(unsettled | ~Exists(steps), status=PlanStatus.DONE),
        _("{count} plans count as done although a step is left, or none was there ({ids})."),
    )
    yield from faults(
        Plan.objects.filter(
            ~unsettled, Exists(steps), status__in=(PlanStatus.ACTIVE, PlanStatus.PAUSED)
        ),
        _("{count} plans do not count as done although every step is settled ({ids})."),
    )


def _of_steps() -> Iterator[Finding]:
    manual = Q(validation_mode=ValidationMode.MANUAL)
    yield from faults(
        Task.objects.filter(
            Q(status=TaskStatus.AWAITING_HUMAN) & ~manual | Q(status=TaskStatus.VALIDATING) & manual
        ),
        _("{count} steps are being validated by another than their mode says ({ids})."),
    )
    yield from faults(
        Task.objects.filter(~manual, validation_rule__isnull=True),
        _("{count} steps are validated by a rule and have none ({ids}): edit them."),
    )
    yield from faults(
        Task.objects.filter(settled=False, completed_at__isnull=False),
        _("{count} steps have a completion date and are not settled ({ids})."),
    )
    yield from notes(
        Task.objects.filter(settled=True, completed_at__isnull=True),
        _("{count} settled steps have no completion date ({ids})."),
    )
    yield from notes(
        Task.objects.filter(active=True, started_at__isnull=True),
        _("{count} active steps have no starting date ({ids})."),
    )


def _of_leases() -> Iterator[Finding]:
    validating = Q(status=TaskStatus.VALIDATING)
    yield from faults(
        Task.objects.filter(~validating).filter(
            Q(lease_expires_at__isnull=False) | ~Q(runner_id="")
        ),
        _("{count} steps are held by a runner although nothing validates them ({ids})."),
    )
    over = Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lte=timezone.now())
    yield from notes(
        Task.objects.filter(validating & over),
        _("{count} steps have lost their runner ({ids}): the next look at their plan fails them."),
    )
