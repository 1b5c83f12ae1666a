"""Real workers, killed and in numbers: none lost, none doubled beyond the one in hand."""

import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from notifications.worker import beside
from tests.conftest import PROJECT, clean_environment, wait_until
from tests.notifications.conftest import Receiver
from tests.notifications.processes import NotifyProcess, environment, scribe_for
from tests.serving import Scribe, Site

MAKE = "tests.notifications.factories.make_target"


@pytest.fixture
def scribe(database_file: Path) -> Iterator[Scribe]:
    process = scribe_for(database_file)
    yield process
    process.stop()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


def start(stack: ExitStack, database: Path) -> NotifyProcess:
    worker = NotifyProcess(database)
    stack.callback(worker.kill)
    return worker


def ask(scribe: Scribe, subject: str) -> None:
    scribe(
        "coordination.services.messages.ask", actor="panel", to="human", subject=subject, body="b"
    )


def subjects(receiver: Receiver) -> Counter:
    return Counter(title.rsplit(": ")[-1] for title in receiver.titles)


def unsent(scribe: Scribe) -> int:
    return scribe("tests.notifications.factories.unsent")


def test_a_worker_killed_in_between_loses_nothing_and_doubles_one_at_most(
    database_file: Path, receiver: Receiver, scribe: Scribe, stack: ExitStack
):
    scribe(MAKE, url=receiver.url)
    first = start(stack, database_file)
    for number in range(3):
        ask(scribe, f"before {number}")
    receiver.wait_for(3)
    receiver.open.clear()  # the next one is taken, but its answer never comes
    ask(scribe, "in hand")
    ask(scribe, "next")
    receiver.wait_for(4)
    first.process.kill()
    for number in range(3):
        ask(scribe, f"while nobody sent {number}")
    receiver.open.set()
    second = start(stack, database_file)
    wait_until(
        lambda: len(subjects(receiver)) == 8 and not unsent(scribe), seconds=40, what="all are told"
    )
    second.stop()
    told = subjects(receiver)
    assert {subject for subject, count in told.items() if count > 1} <= {"in hand"}
    assert max(told.values()) <= 2
    assert "Traceback" not in second.output


def test_two_workers_at_once_tell_each_thing_once(
    database_file: Path, receiver: Receiver, scribe: Scribe, stack: ExitStack
):
    scribe(MAKE, url=receiver.url)
    workers = [start(stack, database_file).ready() for _ in range(2)]
    for number in range(10):
        ask(scribe, f"question {number}")
    receiver.wait_for(10)
    wait_until(lambda: not unsent(scribe), what="all are settled")
    assert set(subjects(receiver).values()) == {1}
    for worker in workers:
        assert "Traceback" not in worker.stop()


def test_a_worker_that_is_stopped_hands_the_duty_on_at_once(
    database_file: Path, receiver: Receiver, scribe: Scribe, stack: ExitStack
):
    scribe(MAKE, url=receiver.url)
    first = start(stack, database_file)
    ask(scribe, "one")
    receiver.wait_for(1)
    wait_until(lambda: not unsent(scribe), what="it is settled")
    assert "Stopped." in first.stop()
    assert first.process.returncode == 0
    assert not scribe("notifications.services.duty.is_held")


def test_the_web_process_sends_by_default_and_stops_for_sigterm(
    database_file: Path, receiver: Receiver, tmp_path: Path, stack: ExitStack
):
    site = Site(database_file, HANDOFF_NOTIFY_DELAY_SECONDS="0", HANDOFF_LANGUAGE="en")
    stack.callback(site.stop)
    site.scribe(MAKE, url=receiver.url)
    ask(site.scribe, "one")
    receiver.wait_for(1)
    assert receiver.messages[0]["message"].startswith(f"{site.url}/#question-")
    wait_until(lambda: not unsent(site.scribe), what="it is settled")
    site.process.terminate()
    site.process.wait(20)
    assert not site.scribe("notifications.services.duty.is_held")


@pytest.mark.parametrize("choice", ["apart", "off"])
def test_the_web_process_leaves_it_when_told_to(choice: str, settings):
    settings.NOTIFY = choice
    before = signal.getsignal(signal.SIGTERM)
    with beside(site="http://desk.example"):
        assert "notifications" not in {thread.name for thread in threading.enumerate()}
        assert signal.getsignal(signal.SIGTERM) == before


def test_notify_refuses_where_nobody_is_to_send(settings):
    settings.NOTIFY = "off"
    with pytest.raises(CommandError, match="HANDOFF_NOTIFY"):
        call_command("notify")


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env=variables,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_notify_refuses_in_one_line_where_it_cannot_work(database_file: Path, tmp_path: Path):
    answer = run("manage.py", "notify", **environment(tmp_path / "empty.sqlite"))
    assert answer.returncode == 1
    assert len(answer.stderr.splitlines()) == 1, answer.stderr
    assert "migrate" in answer.stderr
    wrong = environment(database_file) | {"HANDOFF_NOTIFY": "sometimes"}
    assert "web, apart, off" in run("manage.py", "notify", **wrong).stderr


def test_an_agents_process_loads_none_of_it(database_file: Path):
    code = (
        "import json, sys, django; django.setup(); import mcp_bridge.server; "
        "print(json.dumps([m for m in sys.modules"
        " if m.split('.')[0] in ('notifications', 'apprise')]))"
    )
    variables = clean_environment(
        MCP_HANDOFF_DB=str(database_file),
        HANDOFF_ROLE="agent",
        DJANGO_SETTINGS_MODULE="handoff_site.settings",
    )
    assert json.loads(run("-c", code, **variables).stdout) == []


def test_the_web_side_imports_no_apprise_before_it_is_needed(database_file: Path):
    code = (
        "import sys, django; django.setup(); import handoff_site.management.commands.serve; "
        "import django.contrib.admin; django.contrib.admin.autodiscover(); "
        "print('apprise' in sys.modules)"
    )
    variables = environment(database_file) | {"DJANGO_SETTINGS_MODULE": "handoff_site.settings"}
    assert run("-c", code, **variables).stdout.strip() == "False"
