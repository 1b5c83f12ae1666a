"""Every event in every order, by two agents and a person: the database never breaks the table."""

import contextlib

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from coordination.actors import Actor
from coordination.errors import DomainError
from plans.models import Plan, Task
from plans.services import plans, steps, tasks, transitions
from plans.states import ACTIVE, HUMAN_EVENTS, SETTLED, TRANSITIONS
from tests.plans.factories import PERSON

MOVES = {(source, row.target) for row in TRANSITIONS.values() for source in row.sources}
# What one service call may chain: a look finds a dead runner, a validation ends at once.
AGENTS = st.sampled_from(["panel", "app"])
RUNNERS = st.sampled_from(["r1", "r2"])
ANY = st.integers(0, 30)


class Desk(RuleBasedStateMachine):
    """Two projects under every hand at once; refusals are fine, broken rules are not."""

    def __init__(self) -> None:
        super().__init__()
        self.undo = contextlib.ExitStack()
        self.undo.enter_context(transaction.atomic())
        self.before: dict[int, str] = {}

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.undo.close()

    def do(self, service, **values) -> None:
        with contextlib.suppress(DomainError):
            service(**values)

    def a_task(self, n: int) -> int:
        ids = list(Task.objects.order_by("id").values_list("pk", flat=True))
        return ids[n % len(ids)] if ids else 0

    def a_plan(self, n: int) -> int:
        ids = list(Plan.objects.order_by("id").values_list("pk", flat=True))
        return ids[n % len(ids)] if ids else 0

    @rule(project=AGENTS)
    def plan(self, project):
        self.do(plans.create_plan, actor=PERSON, project=project, title="A plan")

    @rule(n=ANY, shell=st.booleans(), attempts=st.integers(1, 2), after=st.none() | ANY)
    def add(self, n, shell, attempts, after):
        extra = {"validation_mode": "shell", "validation_rule": {"cmd": "true"}} if shell else {}
        self.do(
            tasks.add_task, actor=PERSON, plan_id=self.a_plan(n), title="A step",
            instructions="Do it.", max_attempts=attempts,
            after=None if after is None else self.a_task(after), **extra,
        )  # fmt: skip

    @rule(n=ANY, status=st.sampled_from(["active", "paused", "archived"]))
    def set_plan(self, n, status):
        self.do(plans.patch_plan, actor=PERSON, plan_id=self.a_plan(n), status=status)

    @rule(n=ANY)
    def delete_plan(self, n):
        self.do(plans.delete_plan, actor=PERSON, plan_id=self.a_plan(n))

    @rule(n=ANY)
    def delete(self, n):
        self.do(tasks.delete_task, actor=PERSON, task_id=self.a_task(n))

    @rule(n=ANY, direction=st.sampled_from(["up", "down"]))
    def move(self, n, direction):
        self.do(tasks.move_task, actor=PERSON, task_id=self.a_task(n), direction=direction)

    @rule(n=ANY, title=st.sampled_from(["A", "B"]))
    def edit(self, n, title):
        self.do(tasks.patch_task, actor=PERSON, task_id=self.a_task(n), title=title)

    @rule(n=ANY, action=st.sampled_from(HUMAN_EVENTS))
    def act(self, n, action):
        self.do(transitions.act, actor=PERSON, task_id=self.a_task(n), action=action, remark="no")

    @rule(agent=AGENTS)
    def look(self, agent):
        found = steps.next_step(actor=Actor.agent(agent))
        assert found.kind != "pending"
        assert found == steps.next_step(actor=Actor.agent(agent))

    @rule(agent=AGENTS, n=ANY)
    def submit(self, agent, n):
        self.do(transitions.submit_for_human, actor=Actor.agent(agent), task_id=self.a_task(n))

    @rule(agent=AGENTS, n=ANY)
    def block(self, agent, n):
        self.do(
            transitions.block_step, actor=Actor.agent(agent), task_id=self.a_task(n), reason="x"
        )

    @rule(agent=AGENTS, n=ANY, runner=RUNNERS)
    def begin(self, agent, n, runner):
        self.do(
            steps.begin_validation,
            actor=Actor.agent(agent), task_id=self.a_task(n), runner_id=runner,
        )  # fmt: skip

    @rule(agent=AGENTS, n=ANY, runner=RUNNERS, passed=st.booleans())
    def finish(self, agent, n, runner, passed):
        self.do(
            steps.finish_validation, actor=Actor.agent(agent), task_id=self.a_task(n),
            runner_id=runner, passed=passed, evidence="e", error="x",
        )  # fmt: skip

    @rule(n=ANY)
    def runner_dies(self, n):
        Task.objects.filter(pk=self.a_task(n), status="validating").update(lease_expires_at=None)
        steps.expire_leases()

    @invariant()
    def the_table_holds(self):
        now = dict(Task.objects.values_list("pk", "status"))
        for task_id, status in now.items():
            was = self.before.get(task_id, "pending")
            assert was == status or (was, status) in MOVES, (task_id, was, status)
        self.before = now

    @invariant()
    def plans_agree_with_their_steps(self):
        for plan in Plan.objects.all():
            found = list(plan.tasks.all())
            statuses = [task.status for task in found]
            assert sum(status in ACTIVE for status in statuses) <= 1
            assert [task.settled for task in found] == [s in SETTLED for s in statuses]
            settled = bool(statuses) and set(statuses) <= set(SETTLED)
            assert plan.status == "archived" or (plan.status == "done") == settled
            if plan.status == "archived":
                assert not set(statuses) & set(ACTIVE)
            assert len({task.position for task in found}) == len(found)
            for task in found:
                assert (task.status == "validating") == bool(task.runner_id)
                assert (task.completed_at is not None) == (task.status in SETTLED)


@pytest.mark.django_db
def test_no_order_of_events_breaks_the_table():
    run_state_machine_as_test(
        Desk,
        settings=settings(
            max_examples=25,
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
