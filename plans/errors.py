"""What the database refuses for the plans, told from its own words."""

from django.db import IntegrityError

ONE_ACTIVE = "task_one_active_per_plan"
# PostgreSQL names the index; SQLite names the columns that it covers.
_SIGNS = {ONE_ACTIVE: (ONE_ACTIVE, "UNIQUE constraint failed: plans_task.plan_id")}


def breaks(error: IntegrityError, constraint: str) -> bool:
    """Tell whether `error` is the refusal of `constraint`."""
    return any(sign in str(error) for sign in _SIGNS[constraint])
