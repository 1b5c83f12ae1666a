"""The plain SQL that hooks and waits run says what the selectors say."""

import random

import pytest
from django.utils import timezone

from coordination.models import Message, Session
from coordination.selectors.messages import open_count
from coordination.services import messages
from mcp_bridge.desk import look
from mcp_bridge.tools.waiting import query
from plans.models import Plan
from plans.selectors.tasks import deciding_step
from plans.states import ACTIVE, PlanStatus, TaskStatus
from tests.plans.factories import APP, PANEL, PERSON, make_plan, make_task

KEYS = ("panel", "app", "site")


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(25))
def test_any_desk_is_what_the_selectors_say(seed):
    chance = random.Random(seed)
    for position, key in enumerate(KEYS):
        Session.objects.get_or_create(key=key, defaults={"position": position})
    for _number in range(chance.randrange(12)):
        make_question(chance)
    for _number in range(chance.randrange(8)):
        make_queue(chance)
    for key in KEYS:
        desk = look(query, key, limit=100)
        assert len(desk.questions) == open_count(session=key).count
        found = deciding_step(project=key).task
        if found is None:
            assert desk.step is None
        else:
            assert desk.step is not None
            assert desk.step[:3] == (found.id, found.status, found.title)


@pytest.mark.django_db
def test_the_limit_holds_for_each_kind_of_question():
    for _number in range(3):
        messages.ask(actor=APP, to="panel", subject="Q", body="b")
        messages.broadcast(actor=PERSON, subject="Q", body="b")
        messages.broadcast(actor=PANEL, subject="Q", body="b")
    assert len(look(query, "panel", limit=2).questions) == 4


def make_question(chance):
    sender, to = chance.choice(KEYS), chance.choice((*KEYS, None, "human"))
    status = chance.choice(("open", "open", "answered", "closed"))
    question = Message.objects.create(
        from_session_id=sender,
        to_session_id=to if to != sender else None,
        subject="Q",
        body="b",
        status=status,
        created_at=timezone.now(),
    )
    if status == "answered":
        Message.objects.create(
            parent=question,
            from_session_id=chance.choice(KEYS),
            body="b",
            status="closed",
            created_at=timezone.now(),
        )


def make_queue(chance):
    plan = make_plan(chance.choice(KEYS))
    active = False
    for number in range(chance.randrange(5)):
        status = chance.choice([s for s in TaskStatus if not (active and s in ACTIVE)])
        active = active or status in ACTIVE
        make_task(plan, status, title=f"É{number}", position=chance.choice((10, 20, 30)))
    status = chance.choice((*PlanStatus.values, "active", "active"))
    Plan.objects.filter(pk=plan.pk).update(status=status)
