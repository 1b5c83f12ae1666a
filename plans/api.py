"""REST for plans and steps."""

import re
from dataclasses import asdict
from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Header, Query, Router, Status

from coordination.api import SignedInRequest, acting
from coordination.schemas import LIMIT_MAX, Body, Id
from coordination.selectors import events as event_selectors
from coordination.selectors import messages as message_selectors
from coordination.selectors import sessions as session_selectors
from coordination.services.messages import unknown_session
from plans.schemas import (
    ActionIn,
    BoardOut,
    DuplicateIn,
    MoveIn,
    PlanDetailOut,
    PlanFilters,
    PlanIn,
    PlanOut,
    PlanPatch,
    TaskIn,
    TaskOut,
    TaskPatch,
)
from plans.selectors import plans as plan_selectors
from plans.selectors import tasks as task_selectors
from plans.selectors.plans import PlanDetail, PlanRow
from plans.selectors.tasks import TaskDetail
from plans.services import copies, transitions
from plans.services import plans as plan_services
from plans.services import tasks as task_services

router = Router()

IfMatch = Annotated[
    str,
    Header(alias="If-Match", description="The ETag of what was read, so that nobody's is lost."),
]


@router.get("/board", response=BoardOut, tags=["plans"])
def read_board(request: SignedInRequest) -> dict[str, Any]:
    """Return every column, what waits for a human, and the open questions."""
    # The feed's place first: what changes while the rest is read is told again, never missed.
    last_event_id = event_selectors.last_event_id()
    sessions = session_selectors.agent_sessions()
    columns = plan_selectors.board(projects=[session.key for session in sessions])
    return {
        "last_event_id": last_event_id,
        "columns": [
            {
                "backend": session,
                "plans": [_with_tasks(plan) for plan in columns[session.key].plans],
                "deciding": columns[session.key].deciding,
            }
            for session in sessions
        ],
        "waiting": task_selectors.waiting(),
        "questions": message_selectors.history(status="open", limit=LIMIT_MAX),
    }


@router.get("/plans", response=list[PlanOut], tags=["plans"])
def list_plans(request: SignedInRequest, filters: Query[PlanFilters]) -> list[PlanRow]:
    """List the plans that match every filter given, in queue order."""
    if filters.project and not session_selectors.is_known(filters.project):
        raise unknown_session("project", filters.project)
    status = "" if filters.status == "all" else filters.status
    return plan_selectors.plans(project=filters.project, status=status)


@router.post("/plans", response={201: PlanDetailOut}, tags=["plans"])
def create_plan(
    request: SignedInRequest, response: HttpResponse, payload: PlanIn
) -> Status[dict[str, Any]]:
    """Add a plan at the end of a project's queue."""
    actor = acting(request, "plans.add_plan")
    plan = plan_services.create_plan(actor=actor, project=payload.project, title=payload.title)
    return Status(201, _plan(response, plan.pk))


@router.get("/plans/{plan_id}", response=PlanDetailOut, tags=["plans"])
def read_plan(request: SignedInRequest, response: HttpResponse, plan_id: Id) -> dict[str, Any]:
    """Return a plan with its steps; the ETag is its version."""
    return _plan(response, plan_id)


@router.patch("/plans/{plan_id}", response=PlanDetailOut, tags=["plans"])
def patch_plan(
    request: SignedInRequest,
    response: HttpResponse,
    plan_id: Id,
    payload: PlanPatch,
    if_match: IfMatch = "*",
) -> dict[str, Any]:
    """Rename a plan, or pause, resume or archive it."""
    plan_services.patch_plan(
        actor=acting(request, "plans.change_plan"),
        plan_id=plan_id,
        version=_version(if_match),
        **payload.dict(exclude_unset=True),
    )
    return _plan(response, plan_id)


@router.delete("/plans/{plan_id}", response={204: None}, tags=["plans"])
def delete_plan(request: SignedInRequest, plan_id: Id, if_match: IfMatch = "*") -> Status[None]:
    """Delete a plan that has no active step, with its steps."""
    actor = acting(request, "plans.delete_plan")
    plan_services.delete_plan(actor=actor, plan_id=plan_id, version=_version(if_match))
    return Status(204, None)


@router.post("/plans/{plan_id}/duplicate", response={201: PlanDetailOut}, tags=["plans"])
def duplicate_plan(
    request: SignedInRequest,
    response: HttpResponse,
    plan_id: Id,
    payload: DuplicateIn | None = None,
) -> Status[dict[str, Any]]:
    """Copy a plan with its steps, all pending, to the end of a queue."""
    actor = acting(request, "plans.add_plan")
    wanted = payload.dict() if payload else {}
    plan = copies.duplicate_plan(actor=actor, plan_id=plan_id, **wanted)
    return Status(201, _plan(response, plan.pk))


@router.post("/plans/{plan_id}/tasks", response={201: TaskOut}, tags=["steps"])
def add_task(
    request: SignedInRequest, response: HttpResponse, plan_id: Id, payload: TaskIn
) -> Status[TaskDetail]:
    """Add a step at the end of a plan, or right after another one."""
    actor = acting(request, "plans.add_task")
    task = task_services.add_task(actor=actor, plan_id=plan_id, **_given(payload))
    return Status(201, _task(response, task.pk))


@router.get("/tasks/{task_id}", response=TaskOut, tags=["steps"])
def read_task(request: SignedInRequest, response: HttpResponse, task_id: Id) -> TaskDetail:
    """Return a step; the ETag is its version."""
    return _task(response, task_id)


@router.patch("/tasks/{task_id}", response=TaskOut, tags=["steps"])
def patch_task(
    request: SignedInRequest,
    response: HttpResponse,
    task_id: Id,
    payload: TaskPatch,
    if_match: IfMatch = "*",
) -> TaskDetail:
    """Change what a person wrote of a step that is not active."""
    task_services.patch_task(
        actor=acting(request, "plans.change_task"),
        task_id=task_id,
        version=_version(if_match),
        **payload.dict(exclude_unset=True),
    )
    return _task(response, task_id)


@router.delete("/tasks/{task_id}", response={204: None}, tags=["steps"])
def delete_task(request: SignedInRequest, task_id: Id, if_match: IfMatch = "*") -> Status[None]:
    """Delete a step that is not active."""
    actor = acting(request, "plans.delete_task")
    task_services.delete_task(actor=actor, task_id=task_id, version=_version(if_match))
    return Status(204, None)


@router.post("/tasks/{task_id}/move", response=TaskOut, tags=["steps"])
def move_task(
    request: SignedInRequest, response: HttpResponse, task_id: Id, payload: MoveIn
) -> TaskDetail:
    """Move a step that is not active: one place up or down, or right before another."""
    task_services.move_task(
        actor=acting(request, "plans.change_task"), task_id=task_id, **payload.dict()
    )
    return _task(response, task_id)


@router.post("/tasks/{task_id}/action", response=TaskOut, tags=["steps"])
def act(
    request: SignedInRequest,
    response: HttpResponse,
    task_id: Id,
    payload: ActionIn,
    if_match: IfMatch = "*",
) -> TaskDetail:
    """Validate, send back, reset or skip a step."""
    transitions.act(
        actor=acting(request, "plans.change_task"),
        task_id=task_id,
        version=_version(if_match),
        **_given(payload),
    )
    return _task(response, task_id)


def _given(payload: Body) -> dict[str, Any]:
    """Return what a body says: null says as little as leaving the field out."""
    return {name: value for name, value in payload.dict().items() if value is not None}


def _plan(response: HttpResponse, plan_id: int) -> dict[str, Any]:
    found = plan_selectors.plan_detail(plan_id=plan_id)
    response["ETag"] = f'"{found.plan.version}"'
    return _with_tasks(found)


def _with_tasks(found: PlanDetail) -> dict[str, Any]:
    return {**asdict(found.plan), "tasks": found.tasks}


def _task(response: HttpResponse, task_id: int) -> TaskDetail:
    found = task_selectors.task_detail(task_id=task_id)
    response["ETag"] = f'"{found.version}"'
    return found


def _version(if_match: str) -> int | None:
    """Return the version that a client requires; one never given out if it names none of ours."""
    if if_match.strip() == "*":
        return None
    tag = re.fullmatch(r'(?:W/)?"?(\d{1,10})"?', if_match.strip(), re.ASCII)
    return int(tag[1]) if tag else 0
