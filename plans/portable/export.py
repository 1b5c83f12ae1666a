"""Take a plan out of the database as text."""

from plans.portable import markdown
from plans.portable.document import Document, Step
from plans.selectors.plans import plan_detail


def export_plan(*, plan_id: int) -> str:
    """Return a plan as Markdown.

    Raises:
        NotFound: no such plan.
    """
    found = plan_detail(plan_id=plan_id)
    steps = [
        Step(
            task.title,
            task.instructions,
            task.validation_mode,
            task.validation_rule,
            task.max_attempts,
        )
        for task in found.tasks
    ]
    return markdown.write(Document(found.plan.title, found.plan.project, steps))
