"""People in the admin: through the test client, and in a real Chromium."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.handoff_site.board.conftest import browser, site

__all__ = ["browser", "site"]


@pytest.fixture
def staff(db) -> Callable[..., Client]:
    """Sign somebody in with nothing but these permissions."""

    def sign_in(*permissions: str) -> Client:
        user = User.objects.create_user(f"user{User.objects.count()}", is_staff=True)
        found = Permission.objects.filter(codename__in=permissions)
        assert found.count() == len(permissions)
        user.user_permissions.set(found)
        client = Client()
        client.cookies["handoff_language"] = "en"
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def ada(db) -> Client:
    """A superuser who reads English."""
    client = Client()
    client.cookies["handoff_language"] = "en"
    client.force_login(User.objects.create_superuser("ada"))
    return client
