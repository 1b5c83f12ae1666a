"""Which steps a person moved, told from the order the page was drawn in and the order it sent."""

from bisect import bisect_left
from collections.abc import Sequence

from coordination.actors import Actor
from plans.models import Task
from plans.services.tasks import move_task


def moved(seen: Sequence[int], wanted: Sequence[int], *, fixed: int | None = None) -> list[int]:
    """Return the fewest steps that must move to turn `seen` into `wanted`, in their new order.

    `fixed` is a step that was drawn without a handle: its neighbours moved around it.
    """
    rank = {task_id: place for place, task_id in enumerate(seen)}
    places = [rank[task_id] for task_id in wanted]
    if fixed in rank and fixed in wanted:
        pivot, its_place = wanted.index(fixed), rank[fixed]
        free = [
            place
            for index, place in enumerate(places)
            if index == pivot or (index < pivot) == (place < its_place)
        ]
    else:
        free = places
    kept = _longest_rising(free)
    return [task_id for task_id in wanted if rank[task_id] not in kept]


def displaced(task_id: int, seen: Sequence[int], wanted: Sequence[int]) -> bool:
    """Tell whether a step stands before or after another than it did."""
    before, now = seen.index(task_id), wanted.index(task_id)
    return set(seen[:before]) != set(wanted[:now])


def place(*, actor: Actor, task_id: int, after: int | None, before: int) -> None:
    """Move a step right after another one, or with none right before `before`.

    Raises:
        NotFound, Conflict, Invalid.
    """
    following = before if after is None else _following(after)
    if following is None:
        move_task(actor=actor, task_id=task_id, last=True)
    elif following != task_id:
        move_task(actor=actor, task_id=task_id, before=following)


def _following(task_id: int) -> int | None:
    plan = Task.objects.filter(pk=task_id).values("plan")
    steps = Task.objects.filter(plan__in=plan).order_by("position", "id")
    order = list(steps.values_list("pk", flat=True))
    after = order[order.index(task_id) + 1 :] if task_id in order else []
    return after[0] if after else None


def _longest_rising(places: Sequence[int]) -> set[int]:
    """Return a longest subsequence in rising order."""
    ends: list[int] = []  # smallest end of a rising run of each length
    links: dict[int, int | None] = {}
    for place in places:
        length = bisect_left(ends, place)
        links[place] = ends[length - 1] if length else None
        ends[length:] = [place] if length == len(ends) else [place, *ends[length + 1 :]]
    kept: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        kept.add(last)
        last = links[last]
    return kept
