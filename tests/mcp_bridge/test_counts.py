"""A count that stopped early says so with a plus; one that is exact never does."""

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from coordination.models import Message, Session
from tests.mcp_bridge.conftest import working_as

pytestmark = pytest.mark.usefixtures("sessions")


@sync_to_async
def waiting(*, own: int = 0, for_everyone: int = 0) -> None:
    """Leave so many open questions for panel."""
    Message.objects.bulk_create(
        Message(
            from_session_id="app", to_session_id=to, subject="Q", body="b",
            created_at=timezone.now(),
        )
        for to, how_many in (("panel", own), (None, for_everyone))
        for _ in range(how_many)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("own", "for_everyone", "count", "more"),
    [
        (1000, 0, "1000", "950"),
        (1001, 0, "1000+", "950+"),
        (0, 1500, "1000+", "950+"),
        (600, 500, "1100", "1050"),
        (1000, 1000, "2000", "1950"),
        (1500, 5, "1005+", "955+"),
    ],
)
async def test_the_reminder_and_the_inbox_are_exact_or_say_at_least(own, for_everyone, count, more):
    await waiting(own=own, for_everyone=for_everyone)
    async with working_as("panel") as panel:
        asked = await panel("mf_ask", to="app", subject="Q", body="b")
        inbox = await panel("mf_inbox")
    assert asked.text.endswith(f"\n✉ {count} question(s) ouverte(s) pour toi: mf_inbox")
    assert inbox.text.splitlines()[-1].startswith(f"… et {more} de plus")


@pytest.mark.parametrize(("own", "count"), [(1000, "1000"), (1001, "1000+")])
async def test_what_waits_for_the_stale_is_exact_or_says_at_least(own, count):
    await waiting(own=own)
    async with working_as("app") as app:
        await Session.objects.filter(key="panel").aupdate(last_seen=None)
        text = (await app("mf_health")).text
    assert f"\nQuestions ouvertes adressées à des sessions stale ({count}):\n" in text
