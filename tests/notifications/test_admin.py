"""Targets and notifications in the admin: added, tried out, one's own, looked at."""

import html

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from notifications.models import Delivery, Target
from notifications.sealing import unseal
from notifications.services import duty
from tests.notifications.conftest import Receiver
from tests.notifications.factories import make_target

pytestmark = pytest.mark.django_db

LIST = "/admin/notifications/target/"
DELIVERIES = "/admin/notifications/delivery/"
GOOD = {
    "name": "Phone",
    "url": "json://127.0.0.1:9/hook",
    "occasions": ["awaiting", "asked"],
    "stale_minutes": "60",
    "projects": ["panel"],
    "quiet_from": "22:00",
    "quiet_to": "08:00",
    "enabled": "on",
}


def signed_in(name: str, *, permissions: tuple[str, ...] | None = None) -> Client:
    user, _ = User.objects.get_or_create(username=name)
    user.is_staff = True
    user.is_superuser = permissions is None
    user.save()
    for codename in permissions or ():
        user.user_permissions.add(Permission.objects.get(codename=codename))
    client = Client(headers={"Accept-Language": "en"})
    client.force_login(user)
    return client


@pytest.fixture
def client() -> Client:
    return signed_in("ada")


@pytest.fixture
def member() -> Client:
    names = ("add_target", "change_target", "delete_target", "view_target", "view_delivery")
    return signed_in("bob", permissions=names)


def form_errors(client: Client, **changes: object) -> dict[str, list[str]]:
    mine = {"user": User.objects.get(username="ada").pk}
    answer = client.post(f"{LIST}add/", GOOD | mine | changes)
    assert answer.status_code == 200
    assert not Target.objects.exists()
    return dict(answer.context["adminform"].form.errors)


def test_a_target_is_added_with_its_choices(client: Client):
    ada = User.objects.get(username="ada")
    assert client.post(f"{LIST}add/", GOOD | {"user": ada.pk}).status_code == 302
    target = Target.objects.get()
    assert unseal(target.sealed_url) == "json://127.0.0.1:9/hook"
    assert (target.user, target.occasions, target.projects) == (
        ada, ["awaiting", "asked"], ["panel"],
    )  # fmt: skip
    assert (str(target.quiet_from), str(target.quiet_to)) == ("22:00:00", "08:00:00")
    assert (target.enabled, target.with_bodies) == (True, False)


@pytest.mark.parametrize(
    "url", ["", "no address", "nope://x-s3cr3t", "json://", "http://s3cr3t.example/", "x" * 2001]
)
def test_an_address_that_apprise_does_not_know_is_an_error_of_its_field(client: Client, url: str):
    (said,) = form_errors(client, url=url)["url"]
    assert "s3cr3t" not in said


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"occasions": []}, "occasions"),
        ({"occasions": ["lunch"]}, "occasions"),
        ({"projects": ["nobody"]}, "projects"),
        ({"stale_minutes": "0"}, "stale_minutes"),
        ({"quiet_to": ""}, "quiet_to"),
        ({"quiet_from": ""}, "quiet_from"),
        ({"quiet_to": "22:00"}, "quiet_to"),
        ({"quiet_to": "25:00"}, "quiet_to"),
        ({"name": " "}, "name"),
        ({"user": "999999"}, "user"),
    ],
)
def test_a_bad_value_is_an_error_of_its_field(client: Client, changes: dict, field: str):
    assert field in form_errors(client, **changes)


def test_an_empty_address_keeps_the_one_that_is_there(client: Client):
    target = make_target("json://127.0.0.1:9/hook")
    change = GOOD | {"user": target.user_id, "url": "", "name": "New"}
    assert client.post(f"{LIST}{target.pk}/change/", change).status_code == 302
    changed = Target.objects.get()
    assert (changed.name, changed.sealed_url) == ("New", target.sealed_url)


def test_two_people_who_change_two_things_both_have_them(client: Client):
    target = make_target("json://127.0.0.1:9/hook")
    path = f"{LIST}{target.pk}/change/"
    form = client.get(path).context["adminform"].form
    names = [name for name in form.fields if form[name].initial not in (None, False)]
    found = {name: form[name].initial for name in names}
    found |= {form[name].html_initial_name: found[name] for name in names if name != "url"}
    for change in ({"name": "Theirs"}, {"stale_minutes": "5"}):
        assert client.post(path, found | change).status_code == 302
    changed = Target.objects.get()
    assert (changed.name, changed.stale_minutes) == ("Theirs", 5)
    assert (changed.occasions, changed.enabled) == (target.occasions, target.enabled)


def test_a_session_deleted_since_stays_chosen(client: Client):
    target = make_target("json://127.0.0.1:9/hook", projects=["gone"])
    change = GOOD | {"user": target.user_id, "projects": ["gone"]}
    assert client.post(f"{LIST}{target.pk}/change/", change).status_code == 302
    assert Target.objects.get().projects == ["gone"]


@pytest.mark.django_db(transaction=True)
def test_the_test_button_sends_what_was_just_saved(client: Client, receiver: Receiver):
    mine = {"user": User.objects.get(username="ada").pk, "url": receiver.url}
    button = {"notifications_target_save_and_test": "1"}
    page = client.post(f"{LIST}add/", GOOD | mine | button, follow=True)
    assert "Phone: the test was sent." in page.content.decode()
    assert receiver.titles == ["Handoff: a test"]
    assert "http://testserver/" in receiver.messages[0]["message"]
    assert Target.objects.get().last_sent_at


@pytest.mark.django_db(transaction=True)
def test_a_test_that_fails_says_why_without_the_address(client: Client, receiver: Receiver):
    target = make_target(receiver.url)
    receiver.answers = [403]
    action = {"action": "test_selected", "_selected_action": [target.pk]}
    page = html.unescape(client.post(LIST, action, follow=True).content.decode())
    assert "the test was not sent" in page
    assert "403" in Target.objects.get().last_error
    assert "s3cr3t" not in page


def test_a_test_is_not_sent_by_looking(client: Client, receiver: Receiver):
    target = make_target(receiver.url)
    client.get(f"{LIST}{target.pk}/change/", {"notifications_target_save_and_test": "1"})
    assert receiver.tried == 0


def test_people_see_change_and_delete_their_own_targets_alone(member: Client, client: Client):
    theirs = make_target("json://127.0.0.1:9/hook", user="ada", name="Adas phone")
    Delivery.objects.create(target=theirs, occasion="asked", subject="message:1")
    assert member.post(f"{LIST}add/", GOOD).status_code == 302
    own = Target.objects.get(user__username="bob")
    for page in (LIST, DELIVERIES):
        assert "Adas phone" not in member.get(page).content.decode()
        assert "Adas phone" in client.get(page).content.decode()
    for verb in ("change", "delete"):
        member.post(f"{LIST}{theirs.pk}/{verb}/", GOOD | {"post": "yes"})
    assert Target.objects.get(pk=theirs.pk).name == "Adas phone"
    member.post(f"{LIST}{own.pk}/delete/", {"post": "yes"})
    assert not Target.objects.filter(pk=own.pk).exists()


def test_nobody_makes_a_target_in_anothers_name(member: Client, client: Client):
    ada = User.objects.get(username="ada")
    member.post(f"{LIST}add/", GOOD | {"user": ada.pk})
    assert Target.objects.get().user.username == "bob"


def test_an_account_without_the_permission_can_look_at_most(receiver: Receiver):
    make_target(receiver.url, user="eve")
    target = Target.objects.get()
    onlooker = signed_in("eve", permissions=("view_target",))
    page = onlooker.get(f"{LIST}{target.pk}/change/")
    assert page.status_code == 200
    assert "json://•••" in page.content.decode()
    assert onlooker.post(f"{LIST}{target.pk}/change/", GOOD).status_code == 403
    assert onlooker.post(f"{LIST}add/", GOOD).status_code == 403
    onlooker.post(LIST, {"action": "test_selected", "_selected_action": [target.pk]})
    assert receiver.tried == 0
    stranger = signed_in("mallory", permissions=())
    assert stranger.get(LIST).status_code == 403
    assert stranger.get(DELIVERIES).status_code == 403


def test_notifications_can_be_looked_at_only(client: Client):
    target = make_target("json://127.0.0.1:9/hook")
    row = Delivery.objects.create(
        target=target,
        occasion="asked",
        subject="message:12",
        status="failed",
        last_error="The service refused the message.",
        next_try_at=timezone.now(),
    )
    page = client.get(DELIVERIES).content.decode()
    assert "#12" in page
    assert "The service refused the message." in page
    assert client.post(f"{DELIVERIES}add/").status_code == 403
    assert client.post(f"{DELIVERIES}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    assert client.post(f"{DELIVERIES}{row.pk}/change/", {"status": "sent"}).status_code == 403


def test_the_list_says_when_nobody_sends(client: Client, settings):
    warning = "Nothing is sent"
    assert warning in client.get(LIST).content.decode()
    duty.take(holder="a")
    assert warning not in client.get(LIST).content.decode()
    duty.release(holder="a")
    settings.NOTIFY = "off"
    assert "HANDOFF_NOTIFY is off" in client.get(LIST).content.decode()
