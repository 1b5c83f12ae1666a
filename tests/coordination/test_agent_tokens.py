"""Agent tokens: one session each, hashed, expiring, revocable; never a person's."""

import datetime as dt
import re

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from coordination.actors import Actor
from coordination.errors import Invalid
from coordination.models import AgentToken, Session
from coordination.services import agent_tokens, sessions, tokens

pytestmark = pytest.mark.django_db

LIST = "/admin/coordination/agenttoken/"


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("ada"))
    return client


def soon() -> dt.datetime:
    return timezone.now() + dt.timedelta(hours=1)


def make(session: str = "panel", **fields: object) -> str:
    values = {"name": "laptop", "expires_at": soon()} | fields
    return agent_tokens.create_token(token=AgentToken(session_id=session, **values))


def test_a_token_names_its_session_and_is_stored_nowhere():
    key = make("app")
    assert agent_tokens.authenticate(key=key).session == "app"
    assert key not in str(AgentToken.objects.values_list().get())


def test_no_other_key_opens():
    key = make()
    stored = AgentToken.objects.get().key_hash
    for wrong in ("", "é", key[:-1], key.upper(), key + " ", stored):
        assert agent_tokens.authenticate(key=wrong) is None


def test_revoked_deleted_and_expired_tokens_are_dead():
    keys = [make(), make(), make()]
    numbers = list(AgentToken.objects.order_by("pk").values_list("pk", flat=True))
    assert all(agent_tokens.authenticate(key=key) for key in keys)
    agent_tokens.revoke(token_id=numbers[0])
    agent_tokens.delete(token_id=numbers[1])
    AgentToken.objects.filter(pk=numbers[2]).update(expires_at=timezone.now())
    assert [agent_tokens.authenticate(key=key) for key in keys] == [None, None, None]


def test_revoking_twice_keeps_the_first_date():
    make()
    token = AgentToken.objects.get()
    agent_tokens.revoke(token_id=token.pk)
    first = AgentToken.objects.get().revoked_at
    agent_tokens.revoke(token_id=token.pk)
    assert AgentToken.objects.get().revoked_at == first


def test_a_token_ends_with_its_session():
    Session.objects.create(key="site")
    key = make("site")
    sessions.delete(actor=Actor.human("ada"), key="site")
    assert agent_tokens.authenticate(key=key) is None


def test_no_token_acts_for_people():
    with pytest.raises(Invalid):
        make("human")
    with pytest.raises(IntegrityError), transaction.atomic():
        AgentToken.objects.create(session_id="human", name="x", expires_at=soon())
    assert not AgentToken.objects.exists()


def test_neither_kind_of_token_is_taken_for_the_other():
    assert tokens.authenticate(key=make()) is None
    user = User.objects.create_user("bob")
    theirs = tokens.create_token(token=tokens.ApiToken(user=user, name="ci"))
    assert agent_tokens.authenticate(key=theirs) is None


def test_use_is_noted_once_a_minute():
    key = make()
    bearer = agent_tokens.authenticate(key=key)
    assert bearer.unnoted
    agent_tokens.note_use(token_id=bearer.token_id)
    assert AgentToken.objects.get().last_used_at is not None
    assert not agent_tokens.authenticate(key=key).unnoted


def test_the_admin_shows_a_token_once_with_the_line_to_paste(client: Client):
    page = client.get(f"{LIST}add/").content.decode()
    assert "panel" in page
    assert '<option value="human">' not in page
    answer = client.post(
        f"{LIST}add/",
        {"session": "panel", "name": "laptop", "expires_at_0": "2099-01-01", "expires_at_1": "0:0"},
    )
    assert "no-store" in answer.headers["Cache-Control"]
    text = answer.content.decode()
    key = re.search(r'id="new-token">(hda_[\w-]+)<', text).group(1)
    assert "claude mcp add --transport http handoff http://testserver/mcp" in text
    assert agent_tokens.authenticate(key=key).session == "panel"
    for path in (LIST, f"{LIST}{AgentToken.objects.get().pk}/change/"):
        page = client.get(path)
        assert page.status_code == 200
        assert key not in page.content.decode()
        assert tokens.hash_key(key) not in page.content.decode()


@pytest.mark.parametrize(
    ("changed", "field"),
    [({"session": "human"}, "session"), ({"expires_at_0": "2020-01-01"}, "expires_at")],
)
def test_what_cannot_be_is_an_error_of_its_field(client: Client, changed: dict, field: str):
    fields = {"session": "panel", "name": "x", "expires_at_0": "2099-01-01", "expires_at_1": "0:0"}
    answer = client.post(f"{LIST}add/", fields | changed)
    assert field in answer.context["adminform"].form.errors
    assert not AgentToken.objects.exists()


def test_the_admin_revokes_and_edits_nothing(client: Client):
    key = make()
    number = AgentToken.objects.get().pk
    assert client.post(f"{LIST}{number}/change/", {"name": "x"}).status_code == 403
    client.post(LIST, {"action": "revoke_selected", "_selected_action": [number]})
    assert agent_tokens.authenticate(key=key) is None
