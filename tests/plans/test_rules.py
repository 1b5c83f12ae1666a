"""Validation rules are checked when they are saved: what would check nothing is refused."""

from typing import Any

import pytest

from coordination.errors import Invalid
from plans.rules import parse_rule, rule_schema, stored_rule
from plans.services import tasks
from tests.plans.factories import PERSON, make_plan, make_task

FILE = {"rule": "file_exists", "path": "a/b.txt"}
TEXT = {"rule": "file_contains", "path": "a", "text": "x"}
WEB = {"rule": "http_get_status", "url": "http://127.0.0.1:8000/health"}


@pytest.mark.parametrize(
    ("mode", "rule", "stored"),
    [
        ("manual", None, None),
        ("manual", {}, None),
        ("shell", {"cmd": "make test"}, {"cmd": "make test", "timeout": 120}),
        ("shell", {"cmd": "# why\nmake", "timeout": 600}, {"cmd": "# why\nmake", "timeout": 600}),
        ("artifact", FILE, FILE),
        ("artifact", [TEXT, FILE], [TEXT, FILE]),
        ("artifact", WEB, WEB | {"status": 200}),
        ("artifact", {"rule": "file_exists", "path": "a/../b"},
         {"rule": "file_exists", "path": "a/../b"}),
    ],
)  # fmt: skip
def test_good_rules_are_stored_with_their_defaults(mode: str, rule: Any, stored: Any):
    assert stored_rule(mode, rule) == stored


@pytest.mark.parametrize(
    ("mode", "rule", "field"),
    [
        ("other", None, "validation_mode"),
        ("manual", {"cmd": "true"}, "validation_rule"),
        ("shell", None, "validation_rule"),
        ("shell", "make", "validation_rule"),
        ("shell", [{"cmd": "make"}], "validation_rule"),
        ("shell", {}, "validation_rule.cmd"),
        ("shell", {"cmd": 3}, "validation_rule.cmd"),
        ("shell", {"cmd": " \n"}, "validation_rule.cmd"),
        ("shell", {"cmd": "# only\n  # this"}, "validation_rule.cmd"),
        ("shell", {"cmd": "a\x00b"}, "validation_rule.cmd"),
        ("shell", {"cmd": "x" * 10_001}, "validation_rule.cmd"),
        ("shell", {"cmd": "make", "timeout": 0}, "validation_rule.timeout"),
        ("shell", {"cmd": "make", "timeout": 601}, "validation_rule.timeout"),
        ("shell", {"cmd": "make", "timeout": "9"}, "validation_rule.timeout"),
        ("shell", {"cmd": "make", "timeout": True}, "validation_rule.timeout"),
        ("shell", {"cmd": "make", "cwd": "/"}, "validation_rule.cwd"),
        ("artifact", None, "validation_rule"),
        ("artifact", {}, "validation_rule"),
        ("artifact", [], "validation_rule"),
        ("artifact", [FILE, 3], "validation_rule.1"),
        ("artifact", {"rule": "exists", "path": "a"}, "validation_rule"),
        ("artifact", FILE | {"path": ""}, "validation_rule.path"),
        ("artifact", FILE | {"path": "/etc/passwd"}, "validation_rule.path"),
        ("artifact", FILE | {"path": "../a"}, "validation_rule.path"),
        ("artifact", FILE | {"path": "a/../../b"}, "validation_rule.path"),
        ("artifact", FILE | {"path": "."}, "validation_rule.path"),
        ("artifact", FILE | {"text": "x"}, "validation_rule.text"),
        ("artifact", TEXT | {"text": " "}, "validation_rule.text"),
        ("artifact", [FILE, TEXT | {"path": "/a"}], "validation_rule.1.path"),
        ("artifact", WEB | {"url": "file:///etc/passwd"}, "validation_rule.url"),
        ("artifact", WEB | {"url": "data:text/plain,x"}, "validation_rule.url"),
        ("artifact", WEB | {"url": "http:///x"}, "validation_rule.url"),
        ("artifact", WEB | {"url": "http://host:0/"}, "validation_rule.url"),
        ("artifact", WEB | {"url": "http://host:99999/"}, "validation_rule.url"),
        ("artifact", WEB | {"url": "http://ho st/"}, "validation_rule.url"),
        ("artifact", WEB | {"url": "http://[::1/"}, "validation_rule.url"),
        ("artifact", WEB | {"status": 99}, "validation_rule.status"),
    ],
)
def test_bad_rules_are_refused_naming_the_field(mode: str, rule: Any, field: str):
    with pytest.raises(Invalid) as refused:
        stored_rule(mode, rule)
    assert refused.value.field == field
    assert refused.value.message.startswith(f"{field}: ")
    assert "Input should" not in refused.value.message


def test_one_check_and_a_list_of_checks_are_run_alike():
    assert parse_rule("artifact", FILE) == parse_rule("artifact", [FILE])


def test_the_schema_is_whole_in_itself():
    text = str(rule_schema())
    assert "$ref" not in text
    for word in ("cmd", "timeout", "file_exists", "file_contains", "http_get_status"):
        assert word in text


@pytest.mark.django_db
def test_a_bad_rule_is_never_saved():
    task = make_task(make_plan())
    with pytest.raises(Invalid):
        tasks.patch_task(
            actor=PERSON, task_id=task.pk, validation_mode="shell", validation_rule={"cmd": "#"}
        )
    task.refresh_from_db()
    assert (task.validation_mode, task.validation_rule, task.version) == ("manual", None, 1)
