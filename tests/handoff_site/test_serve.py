"""`make run` calls `manage.py serve`: what it prints, refuses, keeps and gives up in time."""

import datetime as dt
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import psutil
import pytest
import websockets.sync.client
from django.core.management import CommandError, call_command

from handoff_site import startup
from tests.conftest import PROJECT, clean_environment, wait_until
from tests.databases import rows, sqlite_only
from tests.handoff_site.conftest import Served, free_port

Start = Callable[..., Served]


def refusal(database: Path, *arguments: str, **environment: str) -> str:
    """Run `serve` where it must refuse; return what it said."""
    run = subprocess.run(
        [sys.executable, PROJECT / "manage.py", "serve", *arguments],
        env=clean_environment(
            **{
                "MCP_HANDOFF_DB": str(database),
                "HANDOFF_DATA_DIR": str(database.parent),
                "HANDOFF_LANGUAGE": "en",
            }
            | environment
        ),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert run.returncode == 1
    assert run.stdout == ""
    lines = run.stderr.splitlines()
    assert len(lines) == 1, run.stderr
    return lines[0]


@sqlite_only
def test_first_start_makes_a_database_and_an_administrator_who_can_sign_in(
    serve: Start, tmp_path: Path
):
    database = tmp_path / "new" / "handoff.sqlite"
    served = serve(database, HANDOFF_LANGUAGE="en").ready()
    password = served.output.split("Password: ")[1].split()[0]

    with httpx.Client(base_url=served.site, follow_redirects=True) as client:
        page = client.get("/sign-in/")
        form = {"username": "admin", "password": password}
        form["csrfmiddlewaretoken"] = page.text.split('csrfmiddlewaretoken" value="')[1][:64]
        assert client.post("/sign-in/", data=form).url.path == "/"
        assert client.get("/api/backends").json()[0]["key"] == "panel"
    assert rows(database, "PRAGMA journal_mode") == [("wal",)]
    assert rows(database, "SELECT username, is_superuser FROM auth_user") == [("admin", 1)]


def test_second_start_keeps_everything_and_prints_a_fresh_link(serve: Start, database_file: Path):
    first = serve(HANDOFF_LANGUAGE="en").ready()
    assert "Password" in first.output
    assert first.stop() == 0
    account = rows(database_file, "SELECT password FROM auth_user")
    secret = (database_file.parent / "secret_key").read_text()

    second = serve(HANDOFF_LANGUAGE="en").ready()

    assert "Password" not in second.output
    assert rows(database_file, "SELECT password FROM auth_user") == account
    assert (database_file.parent / "secret_key").read_text() == secret
    assert httpx.get(second.link).headers["location"] == "/"


PUBLIC = "https://handoff.example.com"


def sign_in_link(
    database: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, PROJECT / "manage.py", "sign_in_link", *arguments],
        env=clean_environment(
            MCP_HANDOFF_DB=str(database),
            HANDOFF_DATA_DIR=str(database.parent),
            HANDOFF_LANGUAGE="en",
            **environment,
        ),
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    "environment",
    [
        {"HANDOFF_PUBLIC_URL": PUBLIC},
        {"HANDOFF_TRUSTED_ORIGINS": PUBLIC, "HANDOFF_ALLOWED_HOSTS": "handoff.example.com"},
        {"HANDOFF_ALLOWED_HOSTS": "handoff.example.com,127.0.0.1"},
    ],
)
def test_a_site_that_others_reach_prints_nothing_that_lets_anyone_in(
    serve: Start, database_file: Path, environment: dict[str, str]
):
    served = serve(HANDOFF_LANGUAGE="en", **environment).ready()
    assert "manage.py sign_in_link" in served.output
    assert "sesame" not in served.output
    assert "Password" not in served.output
    assert rows(database_file, "SELECT count(*) FROM auth_user") == [(0,)]


def test_a_link_is_printed_on_demand(serve: Start, database_file: Path):
    served = serve(HANDOFF_PUBLIC_URL=PUBLIC).ready()
    first = sign_in_link(database_file, HANDOFF_PUBLIC_URL=PUBLIC).stdout
    assert "Password: " in first
    again = sign_in_link(database_file, "admin", HANDOFF_PUBLIC_URL=PUBLIC).stdout
    assert "Password: " not in again
    path = again.split(PUBLIC)[1].strip()
    answers = [httpx.get(served.site + path).headers["location"] for _time in range(2)]
    assert answers == ["/", "/sign-in/"]


def test_no_link_is_printed_for_an_account_that_is_not_there(database_file: Path):
    refused = sign_in_link(database_file, "nobody")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.splitlines() == ["CommandError: No active account is called nobody."]


@pytest.mark.parametrize("kept", [True, False])
def test_the_journal_gets_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool):
    with (tmp_path / "out").open("w") as stream:
        found = os.fstat(stream.fileno())
        monkeypatch.setenv("JOURNAL_STREAM", f"{found.st_dev}:{found.st_ino + (not kept)}")
        monkeypatch.setattr(sys, "stdout", stream)
        assert startup.a_person_reads("127.0.0.1") is not kept


def test_the_banner_is_french_by_default(serve: Start):
    served = serve().ready()
    assert "Administrateur : admin" in served.output
    assert "une seule fois" in served.output


def test_a_taken_port_is_one_clear_line(database_file: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refusal(database_file, "--port", str(port))
    assert f"Port {port} on 127.0.0.1 is taken" in said
    assert "HANDOFF_PORT" in said


def test_a_taken_port_leaves_an_absent_database_absent(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refusal(tmp_path / "none.sqlite", "--port", str(taken.getsockname()[1]))
    assert not (tmp_path / "none.sqlite").exists()


def test_an_unwritable_data_folder_is_one_clear_line(database_file: Path, tmp_path: Path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    said = refusal(database_file, HANDOFF_DATA_DIR=str(blocked / "data"))
    assert str(blocked / "data") in said
    assert "HANDOFF_DATA_DIR" in said


def test_an_unwritable_database_folder_is_one_clear_line(tmp_path: Path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    said = refusal(blocked / "h.sqlite", HANDOFF_DATA_DIR=str(tmp_path))
    assert "MCP_HANDOFF_DB" in said


def test_an_unreadable_database_is_one_clear_line_and_is_left_alone(tmp_path: Path):
    database = tmp_path / "handoff.sqlite"
    database.write_bytes(b"not a database at all" * 100)
    said = refusal(database, "--port", str(free_port()))
    assert str(database) in said
    assert "MCP_HANDOFF_DB" in said
    assert database.read_bytes() == b"not a database at all" * 100


def test_a_directory_for_a_database_is_one_clear_line(tmp_path: Path):
    database = tmp_path / "handoff.sqlite"
    database.mkdir()
    assert str(database) in refusal(database, "--port", str(free_port()))


def test_a_database_server_that_is_away_is_one_clear_line(database_file: Path):
    said = refusal(
        database_file,
        "--port",
        str(free_port()),
        DATABASE_URL=f"postgres://nobody@127.0.0.1:{free_port()}/nothing",
    )
    assert "DATABASE_URL" in said


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_a_public_address_without_allowed_hosts_is_refused(host: str):
    with pytest.raises(CommandError, match="HANDOFF_ALLOWED_HOSTS"):
        call_command("serve", host=host)


@pytest.mark.parametrize("port", [0, 65536, -1])
def test_a_port_out_of_range_is_refused(port: int):
    with pytest.raises(CommandError, match=str(port)):
        call_command("serve", port=port)


def test_too_old_a_python_is_one_clear_line(tmp_path: Path):
    old = tmp_path / "python-old"
    old.write_text(
        "#!/bin/sh\n"
        f'exec {sys.executable} -c "import sys; sys.version_info = (3, 9, 2); '
        'sys.version = \'3.9.2 (old)\'; code = sys.argv[2]; exec(code)" "$@"\n'
    )
    old.chmod(0o755)
    for name in ("Makefile", "requirements.txt"):
        (tmp_path / name).write_text((PROJECT / name).read_text())

    run = subprocess.run(
        ["make", "run", f"PYTHON={old}"],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=30,
    )

    assert run.returncode != 0
    said = [line for line in run.stderr.splitlines() if not line.startswith("make")]
    assert len(said) == 1
    assert "Python 3.11" in said[0]
    assert "3.9.2" in said[0]
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_that_comes_early_is_no_less_a_stop(serve: Start, sent: signal.Signals):
    served = serve()
    wait_until(lambda: served.output, seconds=30, what="its first line")
    assert served.stop(sent) == 0
    assert "Arrêté." in served.output


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_does_not_wait_for_an_open_socket(serve: Start, sent: signal.Signals):
    served = serve().ready()
    with httpx.Client(base_url=served.site) as client:
        client.get(served.link)
        cookie = client.cookies["handoff_session"]
        with websockets.sync.client.connect(
            f"ws://127.0.0.1:{served.port}/ws/board",
            additional_headers={"Cookie": f"handoff_session={cookie}", "Origin": served.site},
        ):
            begun = time.monotonic()
            served.stop(sent)
    assert time.monotonic() - begun < 6
    assert "Traceback" not in served.output


def test_old_events_are_pruned_at_the_start(serve: Start, database_file: Path):
    old = dt.datetime.now(dt.UTC) - dt.timedelta(days=31)
    for at, subject in ((old, "message:1"), (dt.datetime.now(dt.UTC), "message:2")):
        rows(
            database_file,
            "INSERT INTO coordination_event (at, actor, verb, subject, data)"
            " VALUES (?, 'panel', 'asked', ?, '{}')",
            str(at), subject,
        )  # fmt: skip
    serve().ready()
    assert rows(database_file, "SELECT subject FROM coordination_event") == [("message:2",)]


def test_eight_pages_at_once_leave_no_connection_behind(serve: Start):
    served = serve().ready()
    with httpx.Client(base_url=served.site) as client:
        client.get(served.link)
        for _ in range(20):
            client.get("/api/backends")
    process = psutil.Process(served.process.pid)
    databases = [f for f in process.open_files() if f.path.endswith(".sqlite")]
    assert len(databases) <= 4


def test_an_oversized_header_is_refused_and_the_server_lives(serve: Start):
    served = serve().ready()
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 70_000)
        connection.settimeout(5)
        assert connection.recv(100).startswith(b"HTTP/1.1 4")
    assert httpx.get(f"{served.site}/sign-in/").status_code == 200
