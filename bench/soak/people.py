"""People at work meanwhile: boards that stay open, plans written and steps decided, an admin."""

import contextlib
import html
import json
import random
import re
import threading
import time
from collections.abc import Callable

import httpx
import websockets
import websockets.sync.client
from websockets.typing import Origin

from bench.soak.ledger import Ledger
from tests.serving import Site

PAUSE_SECONDS = 0.2
OPEN_STEPS = 40
"""Steps not decided yet, past which people decide rather than plan."""


class Board(threading.Thread):
    """A page's socket: it resumes from its last event whenever the connection breaks."""

    def __init__(self, site: Site, key: str, ledger: Ledger, stopping: threading.Event) -> None:
        super().__init__(name="board", daemon=True)
        self.site, self.key, self.ledger, self.stopping = site, key, ledger, stopping
        self.last = 0

    def run(self) -> None:
        """Follow until `stopping`."""
        while not self.stopping.is_set():
            with contextlib.suppress(OSError, websockets.WebSocketException, httpx.HTTPError):
                self._follow()
            self.stopping.wait(random.uniform(0.2, 1))

    def _follow(self) -> None:
        with websockets.sync.client.connect(
            f"ws://127.0.0.1:{self.site.port}/ws/board?last={self.last}",
            additional_headers={"Cookie": f"handoff_session={self.key}"},
            origin=Origin(self.site.url),
            open_timeout=20,
        ) as socket:
            self.ledger.count("boards opened")
            while not self.stopping.is_set():
                with contextlib.suppress(TimeoutError):
                    message = json.loads(socket.recv(timeout=1))
                    self._hear(message)
                    if message.get("fragments"):  # as the page does
                        socket.send(json.dumps({"draw": ["for-you", "questions"]}))

    def _hear(self, message: dict[str, object]) -> None:
        if message.get("refresh"):
            # The page would be drawn anew, and begin from the feed's end then.
            with httpx.Client(headers={"Cookie": f"handoff_session={self.key}"}) as client:
                board = client.get(f"{self.site.url}/api/board", timeout=20).raise_for_status()
            self.last = max(self.last, board.json()["last_event_id"])
        last = message.get("last", 0)
        assert isinstance(last, int)
        self.last = max(self.last, last)


class Person(threading.Thread):
    """Somebody signed in who writes plans, decides steps and edits a session in the admin."""

    def __init__(
        self, site: Site, key: str, ledger: Ledger, stopping: threading.Event, *, kill: bool
    ) -> None:
        super().__init__(name="person", daemon=True)
        self.ledger, self.stopping, self.kill = ledger, stopping, kill
        # Not a cookie jar's: it would hold the session twice once the site renews it.
        self.client = httpx.Client(base_url=site.url, timeout=30)
        self.client.cookies.set("handoff_session", key)
        self.number = 0

    def run(self) -> None:
        """Do one thing after another until `stopping`; what is away is tried again later."""
        jobs: tuple[Callable[[], None], ...] = (self._plan, self._decide, self._decide, self._admin)
        while not self.stopping.wait(PAUSE_SECONDS):
            try:
                random.choice(jobs)()
            except httpx.TransportError as error:
                self._trouble(f"person: {type(error).__name__}: {error}")
        self.client.close()

    def _trouble(self, sentence: str) -> None:
        if self.kill:
            self.ledger.count("requests that met a killed server")
        else:
            self.ledger.fault(sentence)

    def _send(self, method: str, path: str, **options: object) -> httpx.Response | None:
        """Return an answer that was no failure of the server; a refusal is one."""
        headers = {"X-CSRFToken": self.client.cookies.get("handoff_csrf", "")}
        begun = time.perf_counter()
        answer = self.client.request(method, path, headers=headers, **options)  # type: ignore[arg-type]
        self.ledger.took("people", (time.perf_counter() - begun) * 1000)
        if answer.status_code >= 500:
            self._trouble(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
            return None
        return answer

    def _signed(self) -> bool:
        return bool(self.client.cookies.get("handoff_csrf") or self._send("GET", "/"))

    def _plan(self) -> None:
        found = self._send("GET", "/api/plans", params={"status": "active"})
        if not self._signed() or found is None or len(found.json()) > OPEN_STEPS // 4:
            return
        made = self._send(
            "POST",
            "/api/plans",
            json={"project": random.choice(("panel", "app")), "title": self.ledger.mark()},
        )
        if made is None or made.status_code != 201:
            return
        plan = made.json()["id"]
        with self.ledger.lock:
            self.ledger.plans.add(plan)
        for _step in range(4):
            step = {
                "title": self.ledger.mark(),
                "instructions": "Fais-le.",
                "validation_mode": "manual",
            }
            added = self._send("POST", f"/api/plans/{plan}/tasks", json=step)
            if added is not None and added.status_code == 201:
                with self.ledger.lock:
                    self.ledger.tasks.add(added.json()["id"])

    def _decide(self) -> None:
        found = self._send("GET", "/api/board")
        if not self._signed() or found is None:
            return
        for task in found.json()["waiting"][:5]:
            action = {
                "awaiting_human": random.choice(("validate-manual", "reject")),
                "blocked": random.choice(("reset", "skip")),
            }.get(task["status"], "reset")
            done = self._send(
                "POST",
                f"/api/tasks/{task['id']}/action",
                json={"action": action, "remark": "Encore."},
            )
            if done is not None and done.is_success and action in {"validate-manual", "skip"}:
                with self.ledger.lock:
                    self.ledger.done.add(task["id"])

    def _admin(self) -> None:
        """Change a session's description in the admin's own form."""
        path = "/admin/coordination/session/app/change/"
        page = self._send("GET", path)
        if page is None or page.status_code != 200:
            return
        form = {html.unescape(name): html.unescape(value) for name, value in _inputs(page.text)}
        self.number += 1
        form["description"] = f"n° {self.number}"
        with self.ledger.lock:
            self.ledger.descriptions.append((form["description"], False))
        saved = self._send("POST", path, data=form)
        if saved is not None and saved.status_code == 302:
            with self.ledger.lock:
                self.ledger.descriptions[-1] = (form["description"], True)
        elif saved is not None:
            self.ledger.fault(f"the admin's form was refused: {saved.status_code}")


def _inputs(page: str) -> list[tuple[str, str]]:
    """Return the names and values of the form's fields."""
    found = []
    form = page.partition('id="session_form"')[2].partition("</form>")[0]
    for tag in re.findall(r"<input\b[^>]*>", form):
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if "name" in attributes and attributes.get("type") != "submit":
            found.append((attributes["name"], attributes.get("value", "")))
    return found
