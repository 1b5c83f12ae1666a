"""`manage.py backup` and `restore`: a database that is destroyed comes back whole."""

import contextlib
import fcntl
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError

from tests.conftest import PROJECT, wait_until
from tests.databases import assert_intact, clean_environment, rows, sqlite_only
from tests.serving import Scribe

ASK = "coordination.services.messages.ask"


def environment(database: Path) -> dict[str, str]:
    return clean_environment(
        MCP_HANDOFF_DB=str(database),
        HANDOFF_DATA_DIR=str(database.parent),
        HANDOFF_LANGUAGE="en",
    )


def manage(database: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, PROJECT / "manage.py", *map(str, arguments)],
        env=environment(database),
        capture_output=True,
        text=True,
        timeout=60,
    )


def done(database: Path, command: str, *arguments: str | Path) -> str:
    """Run a command on a database, as a person does; return what it said.

    Raises:
        CommandError: it was refused, with that line.
    """
    ran = manage(database, command, *arguments)
    if ran.returncode:
        raise CommandError(ran.stderr.strip().removeprefix("CommandError: "))
    return ran.stdout


def refused(database: Path, command: str, *arguments: str | Path) -> str:
    """Run what must be refused in one line; return the line."""
    with pytest.raises(CommandError) as refusal:
        done(database, command, *arguments)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def fill(database: Path, *subjects: str) -> None:
    for subject in subjects:
        rows(
            database,
            "INSERT INTO coordination_message (from_session_id, to_session_id, subject,"
            " subject_folded, body, status, created_at)"
            " VALUES ('panel', 'app', ?, 's', 'Corps.', 'open', '2026-01-01 00:00+00')",
            subject,
        )


def subjects(database: Path) -> list[str]:
    found = rows(database, "SELECT subject FROM coordination_message ORDER BY id")
    return [subject for (subject,) in found]


def test_a_backup_made_while_an_agent_writes_is_one_moment_of_it(
    database_file: Path, tmp_path: Path
) -> None:
    scribe = Scribe(environment(database_file))
    written: list[str] = []
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            subject = f"n° {len(written)}"
            scribe(ASK, actor="panel", to="app", subject=subject, body="Corps.")
            written.append(subject)

    writer = threading.Thread(target=write)
    writer.start()
    wait_until(lambda: len(written) > 20, what="the agent writes")
    before = len(written)
    said = done(database_file, "backup", tmp_path / "saved")
    after = len(written)
    wait_until(lambda: len(written) > after, what="the agent goes on")
    stop.set()
    writer.join(10)
    scribe.stop()

    assert "Saved and checked" in said
    done(database_file, "restore", tmp_path / "saved", "--replace")
    saved = subjects(database_file)
    assert saved == written[: len(saved)]
    assert before <= len(saved) <= len(written)
    assert_intact(database_file)


def test_a_backup_never_replaces_a_file(database_file: Path, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("mine")
    assert "exists already" in refused(database_file, "backup", there)
    assert there.read_text() == "mine"
    assert not (tmp_path / "there.partial").exists()


def test_a_backup_is_for_its_owner_alone(database_file: Path, tmp_path: Path) -> None:
    done(database_file, "backup", tmp_path / "saved")
    assert (tmp_path / "saved").stat().st_mode & 0o777 == 0o600


def test_a_backup_into_no_folder_is_a_sentence(database_file: Path, tmp_path: Path) -> None:
    assert "cannot be written" in refused(database_file, "backup", tmp_path / "none" / "saved")


@sqlite_only
def test_a_backup_of_no_database_makes_neither(tmp_path: Path) -> None:
    absent = tmp_path / "absent.sqlite"
    assert "there is no database" in refused(absent, "backup", tmp_path / "saved")
    assert not absent.exists()
    assert not (tmp_path / "saved").exists()


@sqlite_only
def test_a_backup_needs_no_other_file(database_file: Path, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(database_file)) as writer:
        writer.execute("UPDATE coordination_session SET description = 'in the log only'")
        writer.commit()
        done(database_file, "backup", tmp_path / "saved")
    alone = shutil.copy(tmp_path / "saved", tmp_path / "alone")
    found = rows(Path(alone), "SELECT DISTINCT description FROM coordination_session")
    assert found == [("in the log only",)]


@sqlite_only
def test_a_kill_during_a_backup_leaves_nothing_that_looks_whole(
    database_file: Path, tmp_path: Path
) -> None:
    _grow(database_file)
    target, partial = tmp_path / "saved", tmp_path / "saved.partial"
    process = subprocess.Popen(
        [sys.executable, PROJECT / "manage.py", "backup", target],
        env=environment(database_file),
        stdout=subprocess.DEVNULL,
    )
    wait_until(
        lambda: partial.exists() and partial.stat().st_size > 0, seconds=30, what="it writes"
    )
    process.send_signal(signal.SIGKILL)
    assert process.wait(10) == -signal.SIGKILL
    assert not target.exists()
    assert partial.exists()

    done(database_file, "backup", target)
    assert not partial.exists()
    assert_intact(target)


@sqlite_only
def test_a_second_backup_to_the_same_place_is_refused_while_the_first_writes(
    database_file: Path, tmp_path: Path
) -> None:
    with (tmp_path / "saved.partial").open("w") as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        assert "another backup" in refused(database_file, "backup", tmp_path / "saved")


def _grow(database: Path) -> None:
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)"
            "INSERT INTO coordination_message (from_session_id, to_session_id, subject,"
            " subject_folded, body, status, created_at)"
            " SELECT 'panel', 'app', 's', 's', hex(randomblob(50000)), 'open', '2026-01-01' FROM n"
        )


def _truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _scribble(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        for offset in range(8192, size, 4096):
            file.seek(offset)
            file.write(os.urandom(512))


def _lose_the_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\x00" * 100)


@sqlite_only
@pytest.mark.parametrize("destroy", [_truncate, _scribble, _lose_the_header])
def test_a_destroyed_database_comes_back(
    database_file: Path, tmp_path: Path, destroy: Callable[[Path], None]
) -> None:
    fill(database_file, "Un", "Deux")
    done(database_file, "backup", tmp_path / "saved")
    destroy(database_file)
    ruin = database_file.read_bytes()

    found = manage(database_file, "check_store")
    assert found.returncode == 1, found.stdout
    assert "FAULT" in found.stdout
    assert "Traceback" not in found.stderr
    assert "--replace" in refused(database_file, "restore", tmp_path / "saved")
    assert database_file.read_bytes() == ruin
    said = done(database_file, "restore", tmp_path / "saved", "--replace")

    assert subjects(database_file) == ["Un", "Deux"]
    assert_intact(database_file)
    (aside,) = tmp_path.glob("handoff.sqlite.before-restore-*[0-9]")
    assert str(aside) in said
    assert aside.read_bytes() == ruin


@sqlite_only
def test_a_deleted_database_comes_back_without_a_word_more(
    database_file: Path, tmp_path: Path
) -> None:
    fill(database_file, "Un")
    done(database_file, "backup", tmp_path / "saved")
    database_file.unlink()
    done(database_file, "restore", tmp_path / "saved")
    assert subjects(database_file) == ["Un"]


@sqlite_only
def test_the_log_of_the_former_database_is_not_applied_to_the_restored_one(
    database_file: Path, tmp_path: Path
) -> None:
    fill(database_file, "Un")
    done(database_file, "backup", tmp_path / "saved")
    # An agent is killed: its last writes are in the log alone.
    killed = 'import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("UPDATE'
    killed += " coordination_message SET subject = 'Deux'\"); c.commit(); os._exit(1)"
    subprocess.run([sys.executable, "-c", killed, database_file])
    assert Path(f"{database_file}-wal").stat().st_size > 0
    _truncate(database_file)

    done(database_file, "restore", tmp_path / "saved", "--replace")
    assert subjects(database_file) == ["Un"]
    assert_intact(database_file)
    assert list(tmp_path.glob("*.before-restore-*-wal"))


def test_a_database_that_holds_data_is_replaced_only_when_told(
    database_file: Path, tmp_path: Path
) -> None:
    done(database_file, "backup", tmp_path / "saved")
    fill(database_file, "Un")
    assert "holds data" in refused(database_file, "restore", tmp_path / "saved")
    assert subjects(database_file) == ["Un"]
    said = done(database_file, "restore", tmp_path / "saved", "--replace")
    assert subjects(database_file) == []

    aside = said.partition("kept: ")[2].strip()
    done(database_file, "restore", aside)
    assert subjects(database_file) == ["Un"]


def test_a_database_in_use_is_not_replaced(database_file: Path, tmp_path: Path) -> None:
    done(database_file, "backup", tmp_path / "saved")
    scribe = Scribe(environment(database_file))
    scribe(ASK, actor="panel", to="app", subject="Un", body="Corps.")
    try:
        said = refused(database_file, "restore", tmp_path / "saved", "--replace")
        assert "in use" in said
        assert subjects(database_file) == ["Un"]
    finally:
        scribe.stop()
    done(database_file, "restore", tmp_path / "saved", "--replace")


@sqlite_only
def test_what_is_no_sound_backup_of_ours_changes_nothing(
    database_file: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    rows(other, "CREATE TABLE t (id)")
    text = tmp_path / "text"
    text.write_text("x" * 5000)
    dump = tmp_path / "dump"
    dump.write_bytes(b"PGDMP" + b"x" * 100)
    torn = tmp_path / "torn"
    done(database_file, "backup", torn)
    newer = shutil.copy(torn, tmp_path / "newer")
    rows(Path(newer), "INSERT INTO django_migrations (app, name, applied)"
                      " VALUES ('plans', '9999_later', '2030-01-01')")  # fmt: skip
    _truncate(torn)
    before = database_file.read_bytes()
    for path, said in (
        (other, "no backup of Handoff"),
        (text, "no backup of Handoff"),
        (dump, "another kind of database"),
        (torn, "not sound"),
        (newer, "newer version"),
        (tmp_path / "none", "there is no backup"),
        (database_file, "is the database itself"),
    ):
        assert said in refused(database_file, "restore", path, "--replace")
    assert database_file.read_bytes() == before
    assert not list(tmp_path.glob("*.before-restore-*"))


@sqlite_only
def test_a_damaged_database_is_not_saved_as_a_sound_one(
    database_file: Path, tmp_path: Path
) -> None:
    fill(database_file, "Un")
    rows(database_file, "PRAGMA wal_checkpoint(TRUNCATE)")
    _scribble(database_file)
    refused(database_file, "backup", tmp_path / "saved")
    assert list(tmp_path.glob("saved*")) == []


@sqlite_only
def test_an_older_backup_says_that_it_must_be_migrated(database_file: Path, tmp_path: Path) -> None:
    done(database_file, "backup", tmp_path / "saved")
    rows(tmp_path / "saved", "DELETE FROM django_migrations WHERE app = 'plans'")
    assert "migrate" in done(database_file, "restore", tmp_path / "saved")
