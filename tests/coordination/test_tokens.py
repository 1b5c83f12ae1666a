"""API tokens: only a hash is stored; a live one names its person."""

import datetime as dt

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.utils import timezone

from coordination.models import ApiToken
from coordination.services import tokens

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def make(user: User, **fields: object) -> str:
    return tokens.create_token(token=ApiToken(user=user, name="ci", **fields))


def test_a_token_names_its_person_and_is_stored_nowhere(ada: User):
    key = make(ada)
    assert tokens.authenticate(key=key) == ada
    stored = ApiToken.objects.values_list().get()
    assert key not in str(stored)
    assert ApiToken.objects.get().last_used_at is not None


def test_no_other_key_opens(ada: User):
    key = make(ada)
    for wrong in ("", key[:-1], key.upper(), key + " ", ApiToken.objects.get().key_hash):
        assert tokens.authenticate(key=wrong) is None


def test_revoked_deleted_and_expired_tokens_are_dead(ada: User):
    soon = timezone.now() + dt.timedelta(hours=1)
    keys = [make(ada), make(ada), make(ada, expires_at=soon)]
    numbers = list(ApiToken.objects.order_by("pk").values_list("pk", flat=True))
    assert all(tokens.authenticate(key=key) for key in keys)
    tokens.revoke(token_id=numbers[0])
    tokens.delete(token_id=numbers[1])
    ApiToken.objects.filter(pk=numbers[2]).update(expires_at=timezone.now())
    assert [tokens.authenticate(key=key) for key in keys] == [None, None, None]


def test_a_use_is_noted_once_a_minute(ada: User, django_assert_num_queries):
    key = make(ada)
    tokens.authenticate(key=key)
    first = ApiToken.objects.get().last_used_at
    with django_assert_num_queries(1):
        tokens.authenticate(key=key)
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - dt.timedelta(seconds=61))
    tokens.authenticate(key=key)
    assert ApiToken.objects.get().last_used_at > first


def test_a_use_that_cannot_be_noted_is_no_refusal(ada: User):
    key = make(ada)

    def busy(execute, sql, *rest):
        if sql.startswith("UPDATE"):
            raise OperationalError("database is locked")
        return execute(sql, *rest)

    with connection.execute_wrapper(busy):
        assert tokens.authenticate(key=key) == ada
    assert ApiToken.objects.get().last_used_at is None


def test_revoking_twice_keeps_the_first_date(ada: User):
    make(ada)
    token = ApiToken.objects.get()
    tokens.revoke(token_id=token.pk)
    first = ApiToken.objects.get().revoked_at
    tokens.revoke(token_id=token.pk)
    assert ApiToken.objects.get().revoked_at == first
