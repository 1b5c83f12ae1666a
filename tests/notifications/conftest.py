"""A real HTTP server that apprise's json:// notifies, and a worker whose turns a test takes."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from notifications.worker import Worker
from tests.conftest import wait_until

SITE = "http://desk.example"


class Receiver(ThreadingHTTPServer):
    """Keep what is sent here; answer 200, or what `answers` has for the next ones."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.messages: list[dict[str, Any]] = []
        self.tried = 0
        self.answers: list[int] = []
        self.open = threading.Event()  # while cleared, nobody gets an answer
        self.open.set()

    @property
    def url(self) -> str:
        """The address to notify; its last part is the secret."""
        return f"json://127.0.0.1:{self.server_port}/hook-s3cr3t"

    @property
    def titles(self) -> list[str]:
        return [message["title"] for message in self.messages]

    def wait_for(self, count: int) -> None:
        """Return once so many messages were taken."""
        wait_until(lambda: len(self.messages) >= count, seconds=30, what=f"{count} messages arrive")


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.tried += 1
        status = self.server.answers.pop(0) if self.server.answers else 200
        if status == 200:
            self.server.messages.append(said)
        self.server.open.wait(20)
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_arguments: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.open.set()
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def _at_once(settings) -> None:
    """Send without delay, in English."""
    settings.NOTIFY_DELAY_SECONDS = 0
    settings.LANGUAGE_CODE = "en"


@pytest.fixture
def worker(db: None) -> Worker:
    """A worker that is not started: the test takes its turns."""
    return Worker(site=SITE)
