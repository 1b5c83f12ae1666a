"""The admin of sessions: one row more, looks that change, keys that do not."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client

from coordination.actors import Actor
from coordination.models import Event, Session
from coordination.services import messages

pytestmark = pytest.mark.django_db

LIST = "/admin/coordination/session/"
LOOKS = {"color": "#123456", "description": "Docs", "position": "15"}


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("ada"))
    return client


def keys() -> list[str]:
    return list(Session.objects.values_list("key", flat=True))


def said(answer: object) -> list[tuple[str, str]]:
    return [(m.level_tag, m.message) for m in answer.context["messages"]]


def delete_selected(client: Client, *selected: str):
    data = {"action": "delete_selected", "_selected_action": selected, "post": "yes"}
    return client.post(LIST, data, follow=True)


def test_one_row_more_is_one_session_more(client: Client):
    answer = client.post(f"{LIST}add/", {"key": "docs"} | LOOKS)
    assert answer.status_code == 302
    assert keys() == ["panel", "docs", "app", "human"]
    assert Event.objects.get().actor == "human:ada"


@pytest.mark.parametrize(
    ("field", "value"),
    [("key", "a b"), ("key", "panel"), ("key", ""), ("color", "red"), ("position", "-1")],
)
def test_a_bad_value_is_an_error_of_its_field(client: Client, field: str, value: str):
    answer = client.post(f"{LIST}add/", {"key": "docs"} | LOOKS | {field: value})
    assert answer.status_code == 200
    assert field in answer.context["adminform"].form.errors
    assert keys() == ["panel", "app", "human"]


def test_the_key_of_a_session_that_exists_stays(client: Client):
    client.post(f"{LIST}panel/change/", {"key": "renamed"} | LOOKS)
    panel = Session.objects.get(key="panel")
    assert (panel.color, panel.description, panel.position) == ("#123456", "Docs", 15)
    assert "renamed" not in keys()


def shown(client: Client, path: str) -> dict[str, object]:
    """Return what a browser would send of a change page, as the person found it."""
    form = client.get(path).context["adminform"].form
    values = {name: form[name].initial for name in form.fields}
    return values | {form[name].html_initial_name: value for name, value in values.items()}


def test_two_people_who_change_two_things_both_have_them(client: Client):
    path = f"{LIST}panel/change/"
    mine, theirs = shown(client, path), shown(client, path)
    for data in (theirs | {"description": "Theirs"}, mine | {"color": "#123456"}):
        assert client.post(path, data).status_code == 302
    panel = Session.objects.get(key="panel")
    assert (panel.description, panel.color) == ("Theirs", "#123456")


def test_a_second_change_of_the_same_thing_is_refused_with_the_first(client: Client):
    path = f"{LIST}panel/change/"
    mine, theirs = shown(client, path), shown(client, path)
    client.post(path, theirs | {"description": "Theirs"})
    answer = client.post(path, mine | {"description": "Mine"})
    assert "Theirs" in answer.context["adminform"].form.errors["description"][0]
    assert Session.objects.get(key="panel").description == "Theirs"


def test_a_page_brings_back_what_it_showed(client: Client):
    page = client.get(f"{LIST}panel/change/").content.decode()
    for name in ("color", "description", "position"):
        assert f'name="initial-{name}"' in page


def test_a_session_with_messages_is_kept_with_a_message_and_no_false_success(client: Client):
    messages.broadcast(actor=Actor.agent("panel"), subject="s", body="b")
    answer = client.post(f"{LIST}panel/delete/", {"post": "yes"}, follow=True)
    ((level, text),) = said(answer)
    assert level == "error"
    assert "panel" in text
    assert "panel" in keys()
    assert not LogEntry.objects.exists()


def test_a_bulk_delete_with_a_protected_row_deletes_nothing(client: Client):
    answer = delete_selected(client, "app", "human")
    ((level, text),) = said(answer)
    assert (level, "human" in text) == ("error", True)
    assert keys() == ["panel", "app", "human"]
    assert not LogEntry.objects.exists()
    assert not Event.objects.exists()


def test_a_bulk_delete_of_free_sessions_goes_through_the_service(client: Client):
    delete_selected(client, "app", "panel")
    assert keys() == ["human"]
    assert Event.objects.filter(verb="deleted").count() == 2


def test_a_session_deleted_meanwhile_is_a_message(client: Client):
    Session.objects.filter(key="app").delete()
    answer = client.post(f"{LIST}app/change/", LOOKS, follow=True)
    assert answer.status_code == 200
    assert said(answer)


def test_a_viewer_sees_and_cannot_act(db: None):
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(
        Permission.objects.get(codename="view_session", content_type__app_label="coordination")
    )
    client = Client()
    client.force_login(viewer)
    assert client.get(LIST).status_code == 200
    assert client.get(f"{LIST}panel/change/").status_code == 200
    for path in ("add/", "panel/change/", "panel/delete/"):
        assert client.post(LIST + path, {"key": "docs", "post": "yes"} | LOOKS).status_code == 403
    delete_selected(client, "app")
    assert keys() == ["panel", "app", "human"]
    assert not Event.objects.exists()
