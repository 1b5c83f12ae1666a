"""The shipped systemd units: read by systemd itself, and what they start is started."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.conftest import PROJECT, clean_environment, skip_or_fail, wait_until
from tests.databases import rows
from tests.serving import free_port

pytestmark = pytest.mark.services

UNITS = PROJECT / "deploy/systemd"
SERVICES = ["handoff-web@.service", "handoff-notify.service", "handoff-backup.service"]
HOME = "/opt/handoff"
STATE = "/var/lib/handoff"
HARDENING = {
    "NoNewPrivileges": "yes",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "CapabilityBoundingSet": "",
    "SystemCallFilter": "@system-service",
    "User": "handoff",
}


def lines_of(unit: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for line in (UNITS / unit).read_text().splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found[name].append(value)
    return found


class Unit:
    """A unit's commands, with this checkout and a folder of the test's in the named places."""

    def __init__(self, unit: str, database: Path, **environment: str) -> None:
        self.lines = lines_of(unit)
        self.folder = database.parent
        self.environment = clean_environment() | environment
        for line in self.lines["Environment"]:
            name, _equals, value = line.partition("=")
            self.environment[name] = self._here(value)
        if database.suffix == ".url":
            self.environment["DATABASE_URL"] = database.read_text()

    def _here(self, text: str) -> str:
        python = f"{HOME}/.venv/bin/python"
        return text.replace(python, sys.executable).replace(STATE, str(self.folder))

    def command(self, name: str, *, instance: str = "") -> list[str]:
        """Return a command line as systemd would read it."""
        (line,) = self.lines[name]
        line = line.replace("%i", instance).replace("%%", "%")
        words = shlex.split(self._here(line))
        if words[0].endswith("/sh"):
            return words  # the shell reads its own variables
        backups = self.environment.get("BACKUPS", "")
        return [word.replace("${BACKUPS}", backups) for word in words]

    def start(self, *, instance: str = "") -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command("ExecStart", instance=instance),
            cwd=PROJECT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.wait(10)


@pytest.mark.parametrize("unit", [*SERVICES, "handoff-backup.timer"])
def test_systemd_reads_the_unit_without_a_word(unit: str, tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        skip_or_fail("needs systemd-analyze (Debian's package systemd)")
    for file in UNITS.glob("handoff-*"):
        text = file.read_text().replace(f"{HOME}/.venv/bin/python", sys.executable)
        (tmp_path / file.name).write_text(text.replace(HOME, str(PROJECT)))
    named = tmp_path / unit.replace("@.", "@7878.")
    if "@" in unit:
        (tmp_path / unit).rename(named)
    run = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", named], capture_output=True, text=True
    )
    assert (run.returncode, run.stdout + run.stderr) == (0, "")


@pytest.mark.parametrize("unit", SERVICES)
def test_a_service_has_no_rights_it_does_not_need(unit: str) -> None:
    lines = lines_of(unit)
    assert {name: lines[name][-1] for name in HARDENING} == HARDENING


@pytest.mark.parametrize("unit", SERVICES[:2])
def test_what_must_stay_up_is_always_started_again(unit: str) -> None:
    lines = lines_of(unit)
    assert lines["Restart"] == ["always"]
    assert lines["StartLimitIntervalSec"] == ["0"]


def test_the_web_unit_serves_and_stops_in_time(
    database_file: Path, processes: list[subprocess.Popen[str]]
) -> None:
    unit, port = Unit("handoff-web@.service", database_file), free_port()
    process = unit.start(instance=str(port))
    processes.append(process)

    def healthy() -> bool:
        assert process.poll() is None, process.stdout and process.stdout.read()
        try:
            return httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
        except httpx.TransportError:
            return False

    wait_until(healthy, seconds=60, what="it serves")
    process.send_signal(signal.SIGTERM)
    assert process.wait(int(unit.lines["TimeoutStopSec"][0])) == 0


def test_a_killed_web_process_is_served_again_by_the_same_line(
    database_file: Path, processes: list[subprocess.Popen[str]]
) -> None:
    unit, port = Unit("handoff-web@.service", database_file), free_port()
    for _start in range(2):
        process = unit.start(instance=str(port))
        processes.append(process)
        assert process.stdout
        wait_until(lambda out=process.stdout: "sesame=" in out.readline(), seconds=60)
        process.kill()
        assert process.wait(10) == -signal.SIGKILL


def test_the_notifications_unit_starts_and_stops(
    database_file: Path, processes: list[subprocess.Popen[str]]
) -> None:
    unit = Unit("handoff-notify.service", database_file, HANDOFF_NOTIFY="apart")
    process = unit.start()
    processes.append(process)
    assert process.stdout
    assert "notifications" in process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(int(unit.lines["TimeoutStopSec"][0])) == 0


def test_the_backup_unit_saves_and_forgets_the_old(database_file: Path, tmp_path: Path) -> None:
    unit = Unit("handoff-backup.service", database_file)
    folder = tmp_path / "backups"
    folder.mkdir()
    unit.environment["BACKUPS"] = str(folder)
    for days in (20, 2):
        old = folder / f"{days}.backup"
        old.write_text("")
        os.utime(old, (time.time() - days * 86400,) * 2)
    for name in ("ExecStart", "ExecStartPost"):
        subprocess.run(unit.command(name), cwd=PROJECT, env=unit.environment, check=True)
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 2
    assert names[0] == "2.backup"
    assert names[1].endswith(".backup")
    if database_file.suffix == ".sqlite":
        assert rows(folder / names[1], "PRAGMA integrity_check") == [("ok",)]
