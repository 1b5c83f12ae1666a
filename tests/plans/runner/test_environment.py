"""A command gets its user's environment, and nothing of the server's."""

import os
import sys
from pathlib import Path

import pytest

from plans.runner.environment import command_environment
from tests.plans.runner.running import shell

OWN = {
    "DJANGO_SETTINGS_MODULE": "handoff_site.settings",
    "HANDOFF_SECRET_KEY": "top-secret-1",
    "HANDOFF_ROLE": "agent",
    "MCP_HANDOFF_DB": "/somewhere/top-secret-2.sqlite",
    "MCP_SESSION_ID": "panel",
    "MCP_PROJECT_CWD": "/somewhere",
    "DATABASE_URL": "postgres://u:top-secret-3@h/d",
    "REDIS_URL": "redis://:top-secret-4@h",
    "VIRTUAL_ENV": "/somewhere/venv",
    "PYTHONHOME": sys.base_prefix,
}


async def test_command_sees_nothing_of_the_server(tmp_path, monkeypatch):
    for name, value in OWN.items():
        monkeypatch.setenv(name, value)
    outcome = await shell("env", tmp_path)
    names = {line.partition("=")[0] for line in outcome.evidence.splitlines()}
    assert names & OWN.keys() == set()
    assert "top-secret" not in outcome.evidence


async def test_command_finds_what_its_user_has(tmp_path, monkeypatch):
    users = {"HOME": "/home/u", "LANG": "fr_FR.UTF-8", "JAVA_HOME": "/opt/java", "TOKEN": "é b"}
    for name, value in users.items():
        monkeypatch.setenv(name, value)
    outcome = await shell("env", tmp_path)
    assert {f"{name}={value}" for name, value in users.items()} <= set(
        outcome.evidence.splitlines()
    )


async def test_python_of_the_command_is_not_the_servers(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ['PATH']}")
    outcome = await shell("command -v python3; command -v pytest", tmp_path)
    assert sys.prefix not in outcome.evidence


def test_secret_is_recognised_under_any_name(settings):
    settings.SECRET_KEY = "a-long-secret-key"
    settings.DATABASES["default"]["PASSWORD"] = "hunter2hunter2"
    try:
        kept = command_environment(
            {"COPY": "key=a-long-secret-key!", "PGPASSWORD": "hunter2hunter2", "EDITOR": "vi"}
        )
    finally:
        del settings.DATABASES["default"]["PASSWORD"]
    assert kept == {"EDITOR": "vi", "PATH": os.defpath}


@pytest.mark.parametrize(
    ("setting", "url"),
    [
        ("REDIS_URL", "redis://:p%40ss-of-redis@127.0.0.1:6379/0"),
        ("DATABASE_URL", "postgresql://handoff@127.0.0.1/handoff?password=p%40ss-of-redis"),
        ("LISTEN_URL", "host=127.0.0.1 password='p@ss-of-redis' user=handoff"),
    ],
)
def test_password_in_a_url_is_recognised_by_itself(settings, setting, url):
    setattr(settings, setting, url)
    kept = command_environment({"REDISCLI_AUTH": "p@ss-of-redis", "COPY": f"x {url}", "A": "b"})
    assert kept == {"A": "b", "PATH": os.defpath}


def test_short_password_is_recognised_alone_and_everyday_variables_stay(settings):
    settings.DATABASE_URL = "postgresql://handoff:postgres@127.0.0.1/handoff"
    settings.REDIS_URL = "redis://:abc@127.0.0.1"
    everyday = {"PATH": "/usr/lib/postgresql/16/bin", "HOME": "/home/postgres", "LANG": "abc"}
    kept = command_environment({**everyday, "AUTH": "abc", "ALPHABET": "abcdef"})
    assert kept == everyday | {"ALPHABET": "abcdef"}


def test_nothing_of_libpq_is_passed_on():
    assert command_environment({"PGPASSFILE": "/x", "PGHOST": "h"}) == {"PATH": os.defpath}


def test_search_paths_lose_the_server_only(settings):
    server, own = settings.BASE_DIR, Path(sys.prefix) / "bin"
    kept = command_environment(
        {"PATH": f"/usr/bin:{own}:node_modules/.bin:/p/.venv/bin", "PYTHONPATH": str(server)}
    )
    assert kept == {"PATH": "/usr/bin:node_modules/.bin:/p/.venv/bin"}


def test_no_path_at_all_becomes_the_systems():
    assert command_environment({}) == {"PATH": os.defpath}
