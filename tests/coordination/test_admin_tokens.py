"""The admin of tokens: shown once, for whom one may, revoked for good."""

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from coordination.models import ApiToken
from coordination.services import tokens

pytestmark = pytest.mark.django_db

LIST = "/admin/coordination/apitoken/"


@pytest.fixture
def ada() -> User:
    return User.objects.create_superuser("ada")


@pytest.fixture
def client(ada: User) -> Client:
    client = Client()
    client.force_login(ada)
    return client


@pytest.fixture
def bob() -> User:
    bob = User.objects.create_user("bob", is_staff=True)
    bob.user_permissions.set(Permission.objects.filter(codename__endswith="_apitoken"))
    return bob


def make(client: Client, **fields: object) -> str:
    answer = client.post(f"{LIST}add/", {"name": "ci"} | fields)
    assert "no-store" in answer.headers["Cache-Control"]
    return re.search(r'id="new-token">(hdf_[\w-]+)<', answer.content.decode()).group(1)


def test_a_token_is_shown_once_and_works(client: Client, ada: User):
    key = make(client, user=ada.pk)
    assert tokens.authenticate(key=key) == ada
    for path in (LIST, f"{LIST}{ApiToken.objects.get().pk}/change/"):
        page = client.get(path)
        assert page.status_code == 200
        assert key not in page.content.decode()
        assert tokens.hash_key(key) not in page.content.decode()


def test_a_superuser_may_make_one_for_somebody_else(client: Client, bob: User):
    assert tokens.authenticate(key=make(client, user=bob.pk)) == bob


def test_nobody_else_can_borrow_anothers_rights(bob: User, ada: User):
    client = Client()
    client.force_login(bob)
    assert tokens.authenticate(key=make(client, user=ada.pk)) == bob


def test_people_see_their_own_tokens_only(client: Client, ada: User, bob: User):
    make(client, user=ada.pk)
    other = Client()
    other.force_login(bob)
    assert list(other.get(LIST).context["cl"].result_list) == []
    number = ApiToken.objects.get().pk
    other.post(LIST, {"action": "revoke_selected", "_selected_action": [number]})
    other.post(f"{LIST}{number}/delete/", {"post": "yes"})
    assert ApiToken.objects.get().revoked_at is None


def test_a_past_expiry_is_an_error_of_its_field(client: Client, ada: User):
    answer = client.post(
        f"{LIST}add/",
        {"name": "ci", "user": ada.pk, "expires_at_0": "2020-01-01", "expires_at_1": "00:00"},
    )
    assert "expires_at" in answer.context["adminform"].form.errors
    assert not ApiToken.objects.exists()


def test_revoking_ends_a_token_at_once(client: Client, ada: User):
    key = make(client, user=ada.pk)
    number = ApiToken.objects.get().pk
    client.post(LIST, {"action": "revoke_selected", "_selected_action": [number]})
    assert tokens.authenticate(key=key) is None


def test_deleting_ends_a_token_too(client: Client, ada: User):
    key = make(client, user=ada.pk)
    client.post(f"{LIST}{ApiToken.objects.get().pk}/delete/", {"post": "yes"})
    assert tokens.authenticate(key=key) is None


def test_nothing_of_a_token_can_be_edited(client: Client, ada: User, bob: User):
    make(client, user=ada.pk)
    path = f"{LIST}{ApiToken.objects.get().pk}/change/"
    assert client.post(path, {"name": "x", "user": bob.pk}).status_code == 403


def test_an_account_with_tokens_can_be_deleted(client: Client, bob: User):
    key = make(client, user=bob.pk)
    client.post(f"/admin/auth/user/{bob.pk}/delete/", {"post": "yes"})
    assert not User.objects.filter(username="bob").exists()
    assert tokens.authenticate(key=key) is None


def test_the_event_feed_can_only_be_read(client: Client):
    assert client.get("/admin/coordination/event/").status_code == 200
    assert client.post("/admin/coordination/event/add/", {}).status_code == 403
