"""`manage.py demo` shows the product alive, in an empty database only."""

import pytest
from django.core.management import CommandError, call_command

from coordination.models import Event, Message, Session
from plans.models import Plan, Task
from tests.plans.factories import make_plan

pytestmark = pytest.mark.django_db


def test_the_demo_shows_every_kind_of_waiting():
    call_command("demo")
    assert set(Session.objects.values_list("key", flat=True)) == {"panel", "app", "site", "human"}
    statuses = set(Task.objects.values_list("status", flat=True))
    assert {"awaiting_human", "failed", "blocked", "done", "pending"} <= statuses
    assert {"active", "paused", "done"} == set(Plan.objects.values_list("status", flat=True))
    assert "AssertionError" in Task.objects.get(status="failed").last_proof
    assert Message.objects.filter(parent=None).count() == 4
    assert Event.objects.exists()


def test_a_database_with_plans_is_left_alone():
    make_plan()
    with pytest.raises(CommandError, match="plans"):
        call_command("demo")
    assert (Plan.objects.count(), Session.objects.filter(key="site").exists()) == (1, False)
