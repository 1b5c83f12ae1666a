"""A real server on a real port, and a real Chromium to look at it."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.conftest import PROJECT, clean_environment, skip_or_fail, wait_until

CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Served:
    """A `manage.py serve` process, its output as it comes.

    It starts with SIGINT ignored, as a shell's background jobs do.
    """

    def __init__(self, database: Path, port: int, **environment: str) -> None:
        self.port = port
        self.site = f"http://127.0.0.1:{port}"
        self.output = ""
        self.process = subprocess.Popen(
            [sys.executable, PROJECT / "manage.py", "serve", "--port", str(port)],
            env=clean_environment(
                MCP_HANDOFF_DB=str(database), HANDOFF_DATA_DIR=str(database.parent), **environment
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.output += line

    def ready(self) -> "Served":
        wait_until(
            lambda: (
                re.search("sesame=|sign_in_link", self.output) or self.process.poll() is not None
            ),
            seconds=30,
            what="the sign-in link, or how to have one",
        )
        assert self.process.poll() is None, self.output
        return self

    @property
    def link(self) -> str:
        return re.search(r"http://\S+sesame=\S+", self.output).group()

    def stop(self, sent: signal.Signals = signal.SIGINT) -> int:
        if self.process.poll() is None:
            self.process.send_signal(sent)
        try:
            code = self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.reader.join(5)
        return code


@pytest.fixture(autouse=True)
def _quick_passwords(settings) -> None:
    """Hash fast in this process: slowness is what real hashing is for."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def serve(database_file: Path) -> Iterator[Callable[..., Served]]:
    """Start servers on the test's own database; all of them stop with it."""
    with contextlib.ExitStack() as stack:

        def start(database: Path = database_file, port: int = 0, **environment: str) -> Served:
            served = Served(database, port or free_port(), **environment)
            stack.callback(served.stop)
            return served

        yield start


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for one module: its event loop must not outlive the tests that use it."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not path:
        skip_or_fail("no Chromium on this machine")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield chromium
        chromium.close()
