"""The shipped nginx configuration, run in front of a real site: what people and agents meet."""

import json
import re
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import websockets.sync.client

from tests.conftest import PROJECT, skip_or_fail, wait_until
from tests.databases import copied, rows
from tests.serving import Site, free_port

pytestmark = pytest.mark.services

NAME = "handoff.example.com"
AROUND = """
daemon off;
user root;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u;
    scgi_temp_path {folder}/s;
    include {folder}/handoff.conf;
}}
"""


@dataclass
class Front:
    """nginx and the site behind it."""

    site: Site
    port: int
    plain_port: int
    context: ssl.SSLContext

    @property
    def origin(self) -> str:
        return f"https://{NAME}:{self.port}"

    def client(self) -> httpx.Client:
        """Return a browser of sorts: it asks nginx, by the site's public name."""
        client = httpx.Client(
            base_url=f"https://127.0.0.1:{self.port}",
            verify=self.context,
            headers={"Host": f"{NAME}:{self.port}"},
            timeout=20,
        )

        def name(request: httpx.Request) -> None:
            request.extensions["sni_hostname"] = NAME

        client.event_hooks["request"].append(name)
        return client

    def signed_in(self) -> httpx.Client:
        client = self.client()
        key = self.site.scribe("sign_in", username="admin")
        client.headers["Cookie"] = f"handoff_session={key}"
        return client


def nginx() -> str:
    found = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    if not found or not shutil.which("openssl"):
        skip_or_fail("needs nginx and openssl (Debian's packages nginx-light and openssl)")
    return found


def configured(folder: Path, *, port: int, plain_port: int, web_port: int) -> None:
    """Write the shipped configuration with this test's ports and certificate."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", folder / "key.pem",
         "-out", folder / "cert.pem"],
        check=True,
        capture_output=True,
    )  # fmt: skip
    shipped = (PROJECT / "deploy/nginx/handoff.conf").read_text()
    for pattern, value in (
        (r"listen \[::\].*\n", "\n"),
        (r"listen 443", f"listen 127.0.0.1:{port}"),
        (r"listen 80", f"listen 127.0.0.1:{plain_port}"),
        (r"/etc/letsencrypt\S*fullchain\.pem", f"{folder}/cert.pem"),
        (r"/etc/letsencrypt\S*privkey\.pem", f"{folder}/key.pem"),
        (r"server 127\.0\.0\.1:7878", f"server 127.0.0.1:{web_port}"),
    ):
        shipped, changes = re.subn(pattern, value, shipped)
        assert changes
    (folder / "handoff.conf").write_text(shipped)
    (folder / "nginx.conf").write_text(AROUND.format(folder=folder))


@pytest.fixture(scope="module")
def front(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    program = nginx()
    folder = tmp_path_factory.mktemp("front")
    port, plain_port = free_port(), free_port()
    with copied(migrated_file, folder) as database:
        site = Site(
            database,
            HANDOFF_LANGUAGE="en",
            HANDOFF_BEHIND_PROXY="1",
            HANDOFF_ALLOWED_HOSTS=f"{NAME},127.0.0.1",
            HANDOFF_TRUSTED_ORIGINS=f"https://{NAME}:{port}",
        )
        configured(folder, port=port, plain_port=plain_port, web_port=site.port)
        check = [program, "-t", "-c", folder / "nginx.conf"]
        tested = subprocess.run(check, capture_output=True, text=True)
        assert tested.returncode == 0, tested.stderr
        assert "warn" not in tested.stderr, tested.stderr
        process = subprocess.Popen([program, "-c", folder / "nginx.conf"])
        try:
            wait_until(lambda: _listens(port), what="nginx listens")
            context = ssl.create_default_context(cafile=str(folder / "cert.pem"))
            yield Front(site, port, plain_port, context)
        finally:
            process.terminate()
            process.wait(10)
            site.stop()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_plain_http_is_sent_to_https(front: Front) -> None:
    answer = httpx.get(
        f"http://127.0.0.1:{front.plain_port}/admin/?a=b",
        headers={"Host": f"{NAME}"},
        follow_redirects=False,
    )
    assert answer.status_code == 301
    assert answer.headers["location"] == f"https://{NAME}/admin/?a=b"


def test_the_printed_link_signs_in_with_cookies_for_https_alone(front: Front) -> None:
    command = [sys.executable, PROJECT / "manage.py", "sign_in_link"]
    printed = subprocess.run(
        command, env=front.site.environment, capture_output=True, text=True, check=True
    ).stdout
    assert "sesame" not in front.site.log.read_text()
    link = re.findall(r"https://\S+sesame=\S+", printed)[-1]
    assert link.startswith(front.origin)
    with front.client() as client:
        page = client.get("/sign-in/")
        assert page.headers["strict-transport-security"]
        answer = client.get(link.removeprefix(front.origin))
        assert answer.headers["location"] == "/"
        cookies = [*page.headers.get_list("set-cookie"), *answer.headers.get_list("set-cookie")]
    for name in ("handoff_session", "handoff_csrf"):
        (cookie,) = {c.split(";", 1)[1] for c in cookies if c.startswith(f"{name}=")}
        assert "Secure" in cookie
        assert "SameSite=Lax" in cookie


def test_forms_pass_from_this_origin_and_from_no_other(front: Front) -> None:
    with front.signed_in() as client:
        token = client.get("/password/").cookies["handoff_csrf"]
        client.headers["Cookie"] += f"; handoff_csrf={token}"
        client.headers["X-CSRFToken"] = token
        question = {"subject": "Through nginx", "body": "b"}
        headers = {"Origin": front.origin, "Referer": f"{front.origin}/"}
        asked = client.post("/api/messages", json=question, headers=headers)
        assert asked.status_code == 201, asked.text
        for origin in ("https://evil.example", f"http://{NAME}:{front.port}", "null"):
            refused = client.post("/api/messages", json=question, headers={"Origin": origin})
            assert refused.status_code == 403


def test_a_foreign_name_is_refused(front: Front) -> None:
    with front.client() as client:
        assert client.get("/", headers={"Host": "evil.example"}).status_code == 400


def _board(front: Front, cookie: str, origin: str):
    return websockets.sync.client.connect(
        f"wss://{NAME}:{front.port}/ws/board?last=0",
        sock=socket.create_connection(("127.0.0.1", front.port)),
        ssl=front.context,
        additional_headers={"Cookie": cookie},
        origin=origin,
        open_timeout=10,
    )


def test_the_board_s_socket_passes_and_is_told(front: Front) -> None:
    cookie = front.signed_in().headers["Cookie"]
    with _board(front, cookie, front.origin) as board:
        front.site.scribe("coordination.services.messages.ask", actor="panel", to="app",
                          subject="To the board", body="b")  # fmt: skip
        last = front.site.scribe("coordination.selectors.events.last_event_id")
        wait_until(
            lambda: json.loads(board.recv(timeout=10)).get("last") == last, what="the change"
        )


@pytest.mark.parametrize("scheme", ["https://evil.example", "http"])
def test_a_socket_from_elsewhere_is_refused(front: Front, scheme: str) -> None:
    origin = f"http://{NAME}:{front.port}" if scheme == "http" else scheme
    with pytest.raises(websockets.InvalidStatus) as refused:
        _board(front, front.signed_in().headers["Cookie"], origin)
    assert refused.value.response.status_code == 403


def test_nobody_can_say_where_they_come_from(front: Front) -> None:
    with front.client() as client:
        page = client.get("/sign-in/")
        form = {"username": "mallory", "password": "wrong"}
        form["csrfmiddlewaretoken"] = page.text.split('csrfmiddlewaretoken" value="')[1][:64]
        client.post(
            "/sign-in/",
            data=form,
            headers={
                "Cookie": f"handoff_csrf={page.cookies['handoff_csrf']}",
                "Origin": front.origin,
                "X-Forwarded-For": "198.51.100.7",
                "X-Real-IP": "198.51.100.7",
                "Forwarded": "for=198.51.100.7",
            },
        )
    database = front.site.log.parent
    path = next(iter(database.glob("handoff.sqlite")), database / "handoff.url")
    tried = rows(path, "SELECT ip_address FROM axes_accessattempt WHERE username = 'mallory'")
    assert [str(address) for (address,) in tried] == ["127.0.0.1"]


def test_sign_ins_are_slowed_down(front: Front) -> None:
    with front.client() as client:
        codes = [client.get("/sign-in/").status_code for _number in range(15)]
        assert codes[0] in {200, 429}
        assert codes[-1] == 429
        assert client.get("/healthz").status_code == 200


def test_health_passes_and_metrics_do_not(front: Front) -> None:
    with front.client() as client:
        assert client.get("/healthz").json()["ok"] is True
        assert client.get("/metrics").status_code == 404
    assert httpx.get(f"{front.site.url}/metrics").status_code == 200


def test_static_files_come_compressed(front: Front) -> None:
    with front.client() as client:
        answer = client.get("/static/board/board.js", headers={"Accept-Encoding": "gzip"})
        assert answer.status_code == 200
        assert answer.headers["content-encoding"] == "gzip"


def test_agents_talk_through_it(front: Front) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    key = front.site.scribe("tests.services.agent_key.make", session="panel")
    headers = {
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {key}",
    }
    with front.client() as client:
        assert client.post("/mcp", json=hello).status_code == 401
        answer = client.post("/mcp", json=hello, headers=headers)
        assert answer.status_code == 200, answer.text
        assert '"serverInfo"' in answer.text
        headers["Mcp-Session-Id"] = answer.headers["mcp-session-id"]
        # The stream that an agent keeps open: its head comes at once, though it says nothing yet.
        with client.stream("GET", "/mcp", headers=headers, timeout=10) as stream:
            assert stream.status_code == 200
            assert stream.headers["content-type"].startswith("text/event-stream")
        body = b"x" * (5 * 1024 * 1024)
        for path in ("/mcp", "/mcp/"):
            assert client.post(path, content=body, headers=headers).status_code == 413
            # More than a page takes: only the agents' location lets it through.
            assert client.post(path, content=body[: 2 * 1024 * 1024]).status_code == 401


def test_a_page_s_body_is_bounded(front: Front) -> None:
    with front.client() as client:
        assert client.post("/api/messages", content=b"x" * 1_200_000).status_code == 413
