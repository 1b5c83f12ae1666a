"""A real web process on a database of its own, and a second process that writes to it."""

import contextlib
import datetime as dt
import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conftest import PROJECT, clean_environment, wait_until
from tests.databases import copied

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
"""Chromium's, in a container without a display or a network."""

SCRIBE = """
import importlib, json, sys
import django
django.setup()
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.backends.db import SessionStore
from coordination.actors import Actor

def sign_in(username, permissions=None):
    user, _ = User.objects.get_or_create(username=username)
    user.is_superuser = user.is_staff = permissions is None
    user.save()
    for codename in permissions or ():
        user.user_permissions.add(Permission.objects.get(codename=codename))
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.save()
    return store.session_key

def call(path, kwargs):
    if path == "sign_in":
        return sign_in(**kwargs)
    module, name = path.rsplit(".", 1)
    if "actor" in kwargs:
        session = kwargs["actor"]
        kwargs["actor"] = Actor.human("admin") if session == "human" else Actor.agent(session)
    result = getattr(importlib.import_module(module), name)(**kwargs)
    return getattr(result, "pk", result)

for line in sys.stdin:
    try:
        print(json.dumps({"value": call(*json.loads(line))}, default=str), flush=True)
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
"""


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def long_ago(task_id: int) -> None:
    """Make a step current since two hours, and its session silent since then; run by a scribe."""
    from django.utils import timezone

    from coordination.models import Session
    from plans.models import Task

    then = timezone.now() - dt.timedelta(hours=2)
    Task.objects.filter(pk=task_id).update(status_since=then)
    Session.objects.filter(plans__tasks=task_id).update(last_seen=then)


class Scribe:
    """Another process on the site's database: call a service there and get its row's id."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIBE],
            env=environment | {"DJANGO_SETTINGS_MODULE": "handoff_site.settings"},
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, path: str, **kwargs: Any) -> Any:
        """Run `path` ("plans.services.plans.create_plan"); `actor` is a session's key."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps([path, kwargs]) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer["value"]

    def plan(self, project: str, title: str, *steps: str, **fields: Any) -> tuple[int, list[int]]:
        """Make a plan with its steps; return its id and theirs."""
        plan = self("plans.services.plans.create_plan", actor="human", project=project, title=title)
        fields = {"instructions": "Fais-le."} | fields
        add = "plans.services.tasks.add_task"
        return plan, [self(add, actor="human", plan_id=plan, title=t, **fields) for t in steps]

    def promote(self, project: str) -> None:
        """Let the project's agent take its next step."""
        self("plans.services.steps.next_step", actor=project)

    def stop(self) -> None:
        """End the process."""
        self.process.stdin.close()  # type: ignore[union-attr]
        self.process.wait(10)


class Site:
    """`manage.py serve`, as `make run` starts it."""

    def __init__(self, database: Path, **environment: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = clean_environment(
            MCP_HANDOFF_DB=str(database),
            HANDOFF_DATA_DIR=str(database.parent),
            HANDOFF_PORT=str(self.port),
            **environment,
        )
        self.log = database.parent / f"serve-{self.port}.log"
        self.start()
        self.scribe = Scribe(self.environment)

    def start(self) -> None:
        """Start the web process and wait until it answers."""
        self.process = subprocess.Popen(
            [sys.executable, PROJECT / "manage.py", "serve"],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=self.log.open("a"),
            stderr=subprocess.STDOUT,
        )
        wait_until(self.answers, seconds=40, what=f"{self.url} answers")

    def answers(self) -> bool:
        """Tell whether the site serves its sign-in page."""
        assert self.process.poll() is None, self.log.read_text()
        try:
            with urllib.request.urlopen(f"{self.url}/sign-in/", timeout=5) as response:
                return bool(response.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def kill(self) -> None:
        """End the web process at once."""
        self.process.kill()
        self.process.wait(10)

    def stop(self) -> None:
        """End everything."""
        self.scribe.stop()
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.process.kill()
        self.process.wait(10)


def serving(migrated_file: Path, folder: Path, **environment: str) -> Iterator[Site]:
    """Yield a site on a copy of the schema in `folder`, and end it."""
    with copied(migrated_file, folder) as database:
        site = Site(database, **environment)
        try:
            yield site
        finally:
            site.stop()


def chromium_path() -> str | None:
    """Return the browser that is installed, Debian's or the one the environment names."""
    named = os.environ.get("HANDOFF_TEST_CHROMIUM")
    names = ("chromium", "chromium-browser", "google-chrome")
    return named or next(filter(None, map(shutil.which, names)), None)
