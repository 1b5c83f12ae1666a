"""Read a page as a browser does; make, in another process, what a page is about."""

import datetime as dt
from html.parser import HTMLParser

from django.contrib.auth.models import User
from django.utils import timezone

from coordination.models import AgentToken, ApiToken, Session
from tests.plans.factories import make_plan, make_task


class FormReader(HTMLParser):
    """Collect what a form would send; what stands in a template is no field."""

    def __init__(self, form_id: str) -> None:
        super().__init__()
        self.form_id = form_id
        self.fields: dict[str, str] = {}
        self.inside = self.templates = 0
        self.area = self.select = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.templates += tag == "template"
        if tag == "form":
            self.inside = found.get("id") == self.form_id
        if not self.inside or self.templates:
            return
        name = found.get("name") or ""
        if tag == "input" and name and found.get("type") not in {"submit", "checkbox"}:
            self.fields[name] = found.get("value") or ""
        if tag == "input" and found.get("type") == "checkbox" and "checked" in found:
            self.fields[name] = "on"
        if tag == "textarea":
            self.area, self.fields[name] = name, ""
        if tag == "select":
            self.select = name
        if tag == "option" and "selected" in found:
            self.fields[self.select] = found.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        self.templates -= tag == "template"
        if tag == "form":
            self.inside = 0
        if tag == "textarea" and self.area:
            # As browsers do: one line break first is the markup's, others are two characters.
            text = self.fields[self.area].removeprefix("\r").removeprefix("\n")
            self.fields[self.area] = text.replace("\r\n", "\n").replace("\n", "\r\n")
            self.area = ""

    def handle_data(self, data: str) -> None:
        if self.area:
            self.fields[self.area] += data


def fields_of(response, form_id: str = "plan_form") -> dict[str, str]:
    """Return what the page's form sends when nobody touches it."""
    reader = FormReader(form_id)
    reader.feed(response.content.decode())
    assert reader.fields, f"no form {form_id}"
    return reader.fields


def said(response) -> list[tuple[str, str]]:
    """Return the messages shown: level and text."""
    return [(message.level_tag, str(message)) for message in response.context["messages"]]


def levels(response) -> list[str]:
    return [level for level, _text in said(response)]


def refusals(response) -> list[str]:
    """Return every error on the plan's page: its own, and each row's."""
    form = response.context["adminform"].form
    own = [str(error) for errors in form.errors.values() for error in errors]
    return own + [error for row in form.steps.rows for error in row.errors]


def add_session(key: str) -> None:
    """Give a test a project of its own."""
    Session.objects.create(key=key)


def add_step(status: str = "pending") -> int:
    """Make a step in a plan of its own."""
    return int(make_task(make_plan(), status).pk)


def add_plan(status: str = "active", steps: int = 1) -> tuple[int, list[int]]:
    """Make a plan with its steps: its id, and theirs."""
    plan = make_plan(status=status)
    return int(plan.pk), [int(make_task(plan, title=f"Step {n}").pk) for n in range(steps)]


def add_token(kind: str) -> int:
    """Make a token of an agent or of a person."""
    token = (
        AgentToken(session_id="panel", expires_at=timezone.now() + dt.timedelta(days=1))
        if kind == "agent"
        else ApiToken(user=User.objects.get(username="admin"))
    )
    token.name = token.key_hash = f"{kind}-{timezone.now()}"
    token.save()
    return int(token.pk)
