"""A target's address is nowhere to be read: not in the database, not on a page, not in a log."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from coordination.services import messages
from notifications.models import Delivery, Target
from notifications.sealing import Unreadable, masked, redacted, seal, unseal
from notifications.services import targets
from notifications.worker import Worker
from tests.databases import sqlite_only
from tests.notifications.conftest import Receiver
from tests.notifications.factories import make_target
from tests.notifications.processes import NotifyProcess, scribe_for
from tests.plans.factories import PANEL

LIST = "/admin/notifications/target/"


@pytest.fixture
def client(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("ada"))
    return client


@sqlite_only
def test_the_address_is_not_in_the_database_file_nor_in_the_log(
    database_file: Path, receiver: Receiver
):
    scribe = scribe_for(database_file)
    receiver.answers = [500]
    worker = NotifyProcess(database_file, HANDOFF_LOG_LEVEL="DEBUG")
    try:
        scribe("tests.notifications.factories.make_target", url=receiver.url)
        scribe("coordination.services.messages.ask",
               actor="panel", to="human", subject="s", body="b")  # fmt: skip
        receiver.wait_for(1)
    finally:
        scribe.stop()
        output = worker.stop()
    with closing(sqlite3.connect(database_file)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (error,) = database.execute("SELECT last_error FROM notifications_target").fetchone()
    stored = b"".join(path.read_bytes() for path in database_file.parent.glob("handoff.sqlite*"))
    assert b"hook-s3cr3t" not in stored
    assert str(receiver.server_port).encode() not in stored
    assert "not sent" in output
    assert "s3cr3t" not in output
    assert error == ""


def test_pages_show_only_the_kind_of_service(client: Client):
    target = make_target("json://ada:pa55@10.9.8.7:8123/hook-s3cr3t")
    for page in (LIST, f"{LIST}{target.pk}/change/"):
        said = client.get(page).content.decode()
        assert "json://•••" in said
        assert not any(part in said for part in ("pa55", "10.9.8.7", "8123", "s3cr3t"))
        assert target.sealed_url not in said


@pytest.mark.django_db
def test_another_secret_key_gets_a_sentence_and_a_new_address_mends_it(
    worker: Worker, receiver: Receiver, client: Client, settings
):
    target = make_target(receiver.url)
    messages.ask(actor=PANEL, to="human", subject="s", body="b")
    settings.SECRET_KEY = "another-key" * 5
    client.force_login(User.objects.get(username="ada"))  # the key signs sessions too
    worker.turn()
    assert "secret key has changed" in Target.objects.get().last_error
    assert Delivery.objects.get().status == "pending"
    for page in (LIST, f"{LIST}{target.pk}/change/"):
        answer = client.get(page, headers={"Accept-Language": "en"})
        assert answer.status_code == 200
        assert "secret key has changed" in answer.content.decode()
    targets.save(target=target, url=receiver.url, adding=False)
    worker.turn()
    assert len(receiver.messages) == 1


def test_a_seal_is_opened_by_its_own_key_alone(settings):
    sealed = seal("json://host/x")
    assert unseal(sealed) == "json://host/x"
    assert seal("json://host/x") != sealed
    settings.SECRET_KEY = "another-key" * 5
    with pytest.raises(Unreadable):
        unseal(sealed)


@pytest.mark.parametrize(
    ("url", "shown"),
    [("tgram://123:abc/456", "tgram://•••"), ("json://u:p@h:1/x?y=z", "json://•••")],
)
def test_a_mask_keeps_the_kind_alone(url: str, shown: str):
    assert masked(url) == shown


def test_no_part_of_an_address_is_left_in_an_error():
    url = "tgram://12345:AbC-def/@chat?key=se%20cret#end"
    said = "POST https://api/bot12345:abc-DEF/send failed for @chat (se cret, se%20cret)"
    shown = redacted(said, url)
    assert not any(p in shown.lower() for p in ("12345", "abc-def", "chat", "cret"))
    assert shown.startswith("POST https://api/")
