"""Who wants to be told what."""

import datetime as dt
from dataclasses import dataclass

from notifications.models import Target


@dataclass(frozen=True, slots=True)
class Listener:
    """An enabled target, for deciding what concerns it; no projects means all."""

    id: int
    occasions: frozenset[str]
    projects: frozenset[str]
    stale_minutes: int
    since: dt.datetime

    def wants(self, occasion: str, project: str, at: dt.datetime) -> bool:
        """Tell whether something that happened in `project` is to be told here."""
        return (
            occasion in self.occasions
            and at >= self.since
            and (not self.projects or project in self.projects)
        )


def listeners() -> list[Listener]:
    """Return the enabled targets of people whose account is active."""
    rows = Target.objects.filter(enabled=True, user__is_active=True).order_by("pk")
    return [
        Listener(pk, frozenset(occasions), frozenset(projects), stale_minutes, since)
        for pk, occasions, projects, stale_minutes, since in rows.values_list(
            "pk", "occasions", "projects", "stale_minutes", "since"
        )
    ]
