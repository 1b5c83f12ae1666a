"""Add, change, delete and try out targets."""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.errors import DomainError, Invalid, NotFound
from notifications import sending
from notifications.models import Delivery, DeliveryStatus, Target
from notifications.sealing import seal, unseal

CHOSEN = (
    "name", "user", "occasions", "stale_minutes", "projects", "quiet_from", "quiet_to",
    "with_bodies", "enabled",
)  # fmt: skip


def save(*, target: Target, url: str, adding: bool, fields: Collection[str] = CHOSEN) -> Target:
    """Add a target, or change what `fields` names of it; a blank `url` keeps the address it has.

    What waits for it is tried again at once, under the new choices.

    Raises:
        Invalid, ValidationError: a value that cannot be. NotFound: it was deleted meanwhile.
    """
    url = url.strip()
    _check(target, url, adding=adding)
    if url:
        target.sealed_url = seal(url)
    with transaction.atomic():
        if adding:
            target.save(force_insert=True)
        else:
            _update(target, fields, with_url=bool(url))
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
    target.full_clean(exclude=["sealed_url"], validate_unique=False)


def _update(target: Target, fields: Collection[str], *, with_url: bool) -> None:
    now = timezone.now()
    values: dict[str, Any] = {"failures": 0, "last_error": ""}
    values |= {name: getattr(target, name) for name in CHOSEN if name in fields}
    if with_url:
        values["sealed_url"] = target.sealed_url
    rows = Target.objects.filter(pk=target.pk)
    if values.get("enabled"):
        rows.filter(enabled=False).update(since=now)
    if not rows.update(**values):
        raise _gone()
    Delivery.objects.filter(target=target.pk, status=DeliveryStatus.PENDING).update(next_try_at=now)


def _gone() -> NotFound:
    return NotFound(_("This notification target does not exist any more."))
