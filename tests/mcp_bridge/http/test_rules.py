"""Over HTTP no rule runs on the site's machine but one that asks another address."""

import http.server
import threading
from collections.abc import Iterator

import pytest

from tests.mcp_bridge.http.conftest import MINTING, connected, said
from tests.serving import Site, serving


@pytest.fixture(scope="module")
def equipped(migrated_file, tmp_path_factory) -> Iterator[Site]:
    """A site whose own environment names a folder: no agent may have its rules run there."""
    folder = tmp_path_factory.mktemp("rules")
    (folder / "there").touch()
    yield from serving(migrated_file, folder, MCP_PROJECT_CWD=str(folder))


@pytest.fixture
def address() -> Iterator[str]:
    """Something that answers 204."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def minted(site, session):
    return site.scribe(f"{MINTING}.mint", session=session)


def one_step(site, project, mode, rule):
    return site.scribe.plan(project, "P", "Étape", validation_mode=mode, validation_rule=rule)


@pytest.mark.parametrize(
    ("mode", "rule"),
    [
        ("shell", {"cmd": "touch ran"}),
        ("artifact", {"rule": "file_exists", "path": "there"}),
        (
            "artifact",
            [
                {"rule": "http_get_status", "url": "http://127.0.0.1:1/"},
                {"rule": "file_contains", "path": "there", "text": "x"},
            ],
        ),
    ],
)
async def test_a_rule_of_the_project_is_refused_with_the_command_that_runs_it(
    equipped, tmp_path, mode, rule
):
    _plan, (step,) = one_step(equipped, "panel", mode, rule)
    async with connected(equipped, minted(equipped, "panel")) as client:
        assert f"#{step}" in await said(client, "mf_next_step")
        result = await client.call_tool("mf_validate_step", {"task_id": step})
        assert result.is_error
        text = result.content[0].text
        assert "runmcp --session panel" in text
        assert "MCP_PROJECT_CWD=" in text
        environment = equipped.environment
        database = environment.get("MCP_HANDOFF_DB", "")
        assert (f"MCP_HANDOFF_DB={database}" if database else "DATABASE_URL=…") in text
        assert environment.get("DATABASE_URL", "?") not in text
    row = equipped.scribe(f"{MINTING}.task", task_id=step)
    assert (row["status"], row["attempts"]) == ("current", 0)
    assert not list(tmp_path.parent.rglob("ran"))
    equipped.scribe("plans.services.transitions.skip_task", actor="human", task_id=step)


async def test_an_address_is_asked_and_decides(equipped, address):
    rule = {"rule": "http_get_status", "url": address, "status": 204}
    _plan, (step,) = one_step(equipped, "app", "artifact", rule)
    async with connected(equipped, minted(equipped, "app")) as client:
        await said(client, "mf_next_step")
        assert f"Étape #{step} validée" in await said(client, "mf_validate_step", task_id=step)
    assert equipped.scribe(f"{MINTING}.task", task_id=step)["status"] == "done"
