"""The count of what waits is true, however little of it is shown."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from coordination.models import Message
from handoff_site.board.content import WAITING_SHOWN
from plans.models import Task
from tests.plans.factories import make_plan

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    signed_in = Client()
    signed_in.force_login(User.objects.create_superuser("admin"))
    return signed_in


def wait(steps: int, questions: int) -> None:
    plan, now = make_plan(), timezone.now()
    Task.objects.bulk_create(
        Task(plan=plan, position=n, title="t", instructions="i", status="failed")
        for n in range(steps)
    )
    Message.objects.bulk_create(
        Message(from_session_id="app", to_session_id="human", subject="s", body="b", created_at=now)
        for _n in range(questions)
    )


@pytest.mark.parametrize(
    ("steps", "questions", "shown"),
    [
        (0, 0, "0"),
        (2, 3, "5"),
        (WAITING_SHOWN + 20, 0, f"{WAITING_SHOWN + 20}"),
        (WAITING_SHOWN + 20, WAITING_SHOWN + 30, f"{2 * WAITING_SHOWN + 50}"),
        (1, 1_001, "1001+"),
    ],
)
def test_all_that_waits_is_counted(client: Client, steps: int, questions: int, shown: str) -> None:
    wait(steps, questions)
    html = client.get("/").content.decode()
    assert re.search(r'class="count" data-count[^>]*>([^<]*)<', html).group(1) == shown
    assert html.count(f'data-count="{shown.rstrip("+")}"') == 2
    assert html.count('class="card ') == min(steps + questions, WAITING_SHOWN)
    assert ("Les autres viendront" in html) is (steps + questions > WAITING_SHOWN)
