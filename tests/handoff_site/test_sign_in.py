"""The sign-in page, its throttle, sign-out, a new password, the language."""

import datetime as dt
import html

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

PASSWORD = "correct-horse-battery"


@pytest.fixture(autouse=True)
def ada(db: None) -> User:
    return User.objects.create_user("ada", password=PASSWORD)


def try_to_sign_in(client: Client, password: str = PASSWORD, name: str = "ada"):
    return client.post("/sign-in/", {"username": name, "password": password})


def test_the_right_password_leads_to_where_one_wanted_to_go(client: Client):
    asked = client.get("/password/")
    assert asked.headers["Location"] == "/sign-in/?next=/password/"
    answer = client.post(
        asked.headers["Location"],
        {"username": "ada", "password": PASSWORD, "next": "/password/"},
    )
    assert answer.headers["Location"] == "/password/"


def test_a_foreign_next_is_ignored(client: Client):
    answer = client.post(
        "/sign-in/",
        {"username": "ada", "password": PASSWORD, "next": "https://evil.example/"},
    )
    assert answer.headers["Location"] == "/"


def test_a_wrong_password_is_one_french_sentence(client: Client):
    answer = try_to_sign_in(client, "wrong")
    assert answer.status_code == 200
    assert "Saisissez" in answer.content.decode()


def test_five_wrong_passwords_shut_the_name_out_whatever_comes_next(client: Client):
    for _ in range(5):
        answer = try_to_sign_in(client, "wrong")
    assert answer.status_code == 429
    assert "attendez cinq minutes" in answer.content.decode()
    assert try_to_sign_in(client).status_code == 429
    assert client.get("/api/backends").status_code == 401


def test_another_name_is_not_shut_out(client: Client):
    for _ in range(5):
        try_to_sign_in(client, "wrong", name="bob")
    assert try_to_sign_in(client).status_code == 302


def test_after_five_minutes_the_name_is_let_in(client: Client):
    for _ in range(5):
        try_to_sign_in(client, "wrong")
    AccessAttempt.objects.update(attempt_time=timezone.now() - dt.timedelta(minutes=5, seconds=5))
    assert try_to_sign_in(client).status_code == 302


def test_the_lockout_speaks_the_chosen_language(client: Client):
    client.post("/language/", {"language": "en"})
    for _ in range(5):
        answer = try_to_sign_in(client, "wrong")
    assert "wait five minutes" in answer.content.decode()


def test_sign_out_is_a_post(client: Client, ada: User):
    client.force_login(ada)
    assert client.get("/sign-out/").status_code == 405
    assert client.get("/api/backends").status_code == 200
    assert client.post("/sign-out/").headers["Location"] == "/sign-in/"
    assert client.get("/api/backends").status_code == 401


def test_a_form_without_its_token_is_refused_in_words(ada: User):
    client = Client(enforce_csrf_checks=True)
    answer = try_to_sign_in(client)
    assert answer.status_code == 403
    assert "rechargez la page" in answer.content.decode()


def test_a_new_password_keeps_this_session_and_ends_the_others(client: Client, ada: User):
    client.force_login(ada)
    other = Client()
    other.force_login(ada)
    answer = client.post(
        "/password/",
        {
            "old_password": PASSWORD,
            "new_password1": "staple-horse-42",
            "new_password2": "staple-horse-42",
        },
    )
    assert answer.headers["Location"] == "/"
    assert client.get("/api/backends").status_code == 200
    assert other.get("/api/backends").status_code == 401


def test_the_language_is_the_persons_choice_and_not_the_browsers(client: Client):
    english = {"Accept-Language": "en"}
    assert '<html lang="fr">' in client.get("/sign-in/", headers=english).content.decode()
    client.post("/language/", {"language": "en", "next": "/sign-in/"})
    assert client.cookies["handoff_language"].value == "en"
    page = client.get("/sign-in/").content.decode()
    assert '<html lang="en">' in page
    assert "Sign in" in page


def test_an_unknown_language_changes_nothing(client: Client):
    client.post("/language/", {"language": "tlh"})
    client.cookies["handoff_language"] = "tlh"
    assert '<html lang="fr">' in client.get("/sign-in/").content.decode()


def test_the_language_is_not_changed_by_a_link(client: Client):
    client.get("/language/", {"language": "en"})
    assert "handoff_language" not in client.cookies


def test_an_account_that_is_not_staff_is_told_so_in_the_admin(client: Client, ada: User):
    client.force_login(ada)
    answer = client.get("/admin/", follow=True)
    assert answer.status_code == 403
    assert "administration" in answer.content.decode()


def test_the_admin_uses_the_sites_own_sign_in_page(client: Client):
    assert client.get("/admin/", follow=True).redirect_chain[-1][0].startswith("/sign-in/?next=")


def test_an_unknown_page_is_a_sentence(client: Client):
    answer = client.get("/nowhere")
    assert answer.status_code == 404
    assert "Il n'y a rien à cette adresse." in html.unescape(answer.content.decode())
