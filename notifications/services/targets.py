"""Add, change, delete and try out targets."""

from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.errors import DomainError, Invalid, NotFound
from notifications import sending
from notifications.models import Delivery, DeliveryStatus, Occasion, Target
from notifications.sealing import seal, unseal

_CHOSEN = (
    "name", "user_id", "occasions", "stale_minutes", "projects", "quiet_from", "quiet_to",
    "with_bodies", "enabled",
)  # fmt: skip


def save(*, target: Target, url: str, adding: bool) -> Target:
    """Add a target, or change it; a blank `url` keeps the address that it has.

    What waits for it is tried again at once, under the new choices.

    Raises:
        Invalid: a value that cannot be. NotFound: it was deleted meanwhile.
    """
    url = url.strip()
    _check(target, url, adding=adding)
    if url:
        target.sealed_url = seal(url)
    with transaction.atomic():
        if adding:
            target.save(force_insert=True)
        else:
            _update(target, with_url=bool(url))
    return target


def delete(*, target_id: int) -> None:
    """Delete a target with what was to be sent to it."""
    Target.objects.filter(pk=target_id).delete()


def send_test(*, target_id: int, link: str) -> None:
    """Send a test message now. Not inside a transaction: the service may take seconds.

    Raises:
        NotFound: no such target. SendFailed, Unreadable: it was not sent; the target says why.
    """
    sealed = Target.objects.filter(pk=target_id).values_list("sealed_url", flat=True).first()
    if sealed is None:
        raise _gone()
    rows = Target.objects.filter(pk=target_id)
    try:
        sending.send(
            unseal(sealed),
            title=_("Handoff: a test"),
            body=_("Notifications arrive here. {link}").format(link=link),
        )
    except DomainError as error:
        rows.update(last_error=error.message)
        raise
    rows.update(last_error="", failures=0, last_sent_at=timezone.now())


def _check(target: Target, url: str, *, adding: bool) -> None:
    if adding and not url:
        raise Invalid("url", _("Give the address at which to notify."))
    if url:
        sending.check(url)
    if unknown := set(target.occasions) - set(Occasion.values):
        raise Invalid("occasions", _("Unknown: {names}.").format(names=", ".join(sorted(unknown))))
    if not target.occasions:
        raise Invalid("occasions", _("Choose at least one."))
    if (target.quiet_from is None) != (target.quiet_to is None):
        missing = "quiet_to" if target.quiet_to is None else "quiet_from"
        raise Invalid(missing, _("Quiet hours need both times, or neither."))
    if target.quiet_from is not None and target.quiet_from == target.quiet_to:
        raise Invalid(
            "quiet_to",
            _("Quiet hours cannot last all day: choose two times, or untick “enabled”."),
        )


def _update(target: Target, *, with_url: bool) -> None:
    now = timezone.now()
    values: dict[str, Any] = {name: getattr(target, name) for name in _CHOSEN}
    values |= {"failures": 0, "last_error": ""}
    if with_url:
        values["sealed_url"] = target.sealed_url
    rows = Target.objects.filter(pk=target.pk)
    if target.enabled:
        rows.filter(enabled=False).update(since=now)
    if not rows.update(**values):
        raise _gone()
    Delivery.objects.filter(target=target.pk, status=DeliveryStatus.PENDING).update(next_try_at=now)


def _gone() -> NotFound:
    return NotFound(_("This notification target does not exist any more."))
