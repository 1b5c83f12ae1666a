"""Start-up checks name the setting and the cure."""

from pathlib import Path

import pytest

from handoff_site.checks import check_addresses, check_folders, is_loopback


def ids(problems: list) -> list[str]:
    return [problem.id for problem in problems]


@pytest.fixture
def blocked(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "folder"


def test_a_private_site_has_no_problem(settings, tmp_path: Path):
    settings.DATA_DIR = tmp_path / "data"
    settings.SQLITE_PATH = tmp_path / "other" / "h.sqlite"
    assert check_folders() == []
    assert check_addresses() == []


def test_an_unwritable_data_folder_names_its_setting(settings, blocked: Path, tmp_path: Path):
    settings.DATA_DIR, settings.SQLITE_PATH = blocked, tmp_path / "h.sqlite"
    (problem,) = check_folders()
    assert str(blocked) in problem.msg
    assert "HANDOFF_DATA_DIR" in problem.hint


def test_an_unwritable_database_folder_names_its_setting(settings, blocked: Path, tmp_path: Path):
    settings.DATA_DIR, settings.SQLITE_PATH = tmp_path, blocked / "h.sqlite"
    settings.DATABASE_URL = ""
    (problem,) = check_folders()
    assert "MCP_HANDOFF_DB" in problem.hint
    settings.DATABASE_URL = "postgres://h/d"
    assert check_folders() == []


def test_a_public_address_wants_names_and_https(settings):
    settings.HOST = "0.0.0.0"
    assert ids(check_addresses()) == ["handoff.E003", "handoff.W001"]
    settings.ALLOWED_HOSTS, settings.ON_LOOPBACK = ["desk.example.org"], False
    assert ids(check_addresses()) == ["handoff.W001"]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert check_addresses() == []


def test_a_public_site_takes_no_debug_and_no_wildcard(settings):
    settings.ALLOWED_HOSTS, settings.ON_LOOPBACK, settings.DEBUG = ["*"], False, True
    assert {"handoff.E004", "handoff.E005"} <= set(ids(check_addresses()))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "::1", "[::1]"])
def test_loopback_addresses(host: str):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "127.0.0.1.evil.example", "", "192.168.1.2"])
def test_other_addresses(host: str):
    assert not is_loopback(host)
