"""The programs that Handoff is compared with, each in an environment that goes with the run.

The package registries are those that this machine is set up for. Nothing is written outside the
temporary folder: the programs take it for their home.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from bench.agent import Agent
from tests.conftest import wait_until
from tests.serving import free_port

AGENT_INBOX = "agent-inbox 0.34.0"
AK5 = "ak5 2.0.0"
BACKLOG = "Backlog.md 1.52.0"
INSTALL_SECONDS = 600


class Absent(Exception):
    """The program cannot be installed on this machine; the message says why."""


@contextmanager
def agent_inbox(count: int) -> Iterator[list[Agent]]:
    """Yield MCP servers of agent-inbox, on one hub, for agents called agent_0 and so on."""
    with TemporaryDirectory(prefix="handoff-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        # It imports a module that the second version of the SDK no longer has.
        programs = _from_pypi(folder, "agent-inbox[clients]==0.34.0", "mcp<2", least=(3, 12))
        hub = f"http://127.0.0.1:{(port := free_port())}"
        served = {"DB": f"{folder}/mail.db", "HOST": "127.0.0.1", "PORT": f"{port}"}
        quiet = {"LOG_LEVEL": "WARNING"}
        variables = {f"AGENT_INBOX_{key}": value for key, value in (served | quiet).items()}
        command = [f"{programs}/agent-inbox", "serve"]
        stack.enter_context(_server(command, folder, variables, f"{hub}/schema/openapi.json"))
        agents = []
        for number in range(count):
            who = {"AGENT_INBOX_HUB": hub, "AGENT_INBOX_NAME": f"agent_{number}"}
            agent = Agent(
                command=(f"{programs}/agent-inbox", "mcp", "--project", name),
                variables=_home(folder) | who | {"FASTMCP_LOG_LEVEL": "WARNING"},
                stderr=subprocess.DEVNULL,
            )
            agents.append(stack.enter_context(agent).initialize(seconds=120))
            agent.call("join", name=f"agent_{number}")
        yield agents


@dataclass(frozen=True, slots=True)
class Ak5:
    """A served board: a person's REST client, and a worker's MCP server."""

    client: httpx.Client
    worker: Agent


@contextmanager
def ak5() -> Iterator[Ak5]:
    """Yield ak5's server as a person and as a worker see it."""
    with TemporaryDirectory(prefix="handoff-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        programs = _from_pypi(folder, "ak5[server,mcp]==2.0.0")
        site = f"http://127.0.0.1:{(port := free_port())}"
        command = [f"{programs}/ak5", "serve", "--port", f"{port}", "--dev-insecure-identify"]
        stack.enter_context(_server(command, folder, {}, f"{site}/docs"))
        client = stack.enter_context(httpx.Client(base_url=f"{site}/api/v1", timeout=30))
        keys = {}
        for role, kind in (("human", "human"), ("worker", "agent")):
            who = {"actor_id": f"bench_{role}", "actor_type": kind, "name": role, "role": role}
            answer = client.post("/auth/identify", json=who).raise_for_status()
            keys[role] = answer.json()["access_token"]
        client.headers["Authorization"] = f"Bearer {keys['human']}"
        variables = {"AK5_API_URL": f"{site}/api/v1", "AK5_ACTOR_TOKEN": keys["worker"]}
        worker = Agent(
            command=(f"{programs}/ak5-mcp",),
            variables=_home(folder) | variables,
            stderr=subprocess.DEVNULL,
        )
        yield Ak5(client, stack.enter_context(worker).initialize(seconds=120))


@contextmanager
def backlog() -> Iterator[Agent]:
    """Yield Backlog.md's MCP server on a folder of its own, without Git."""
    with TemporaryDirectory(prefix="handoff-bench-") as name:
        folder, project = Path(name), Path(name) / "project"
        project.mkdir()
        # Not the script that starts it: a process of its own would outlive that one.
        program = next(_from_npm(folder, "backlog.md@1.52.0").glob("backlog.md-*/backlog"))
        subprocess.run(
            [program, "init", "Bench", "--defaults", "--integration-mode", "mcp", "--no-git"],
            cwd=project,
            env=os.environ | _home(folder),
            stdout=subprocess.DEVNULL,
            check=True,
        )
        with Agent(
            command=(str(program), "mcp", "start", "--cwd", str(project)),
            variables=_home(folder),
            stderr=subprocess.DEVNULL,
        ) as agent:
            yield agent.initialize(seconds=120)


def _home(folder: Path) -> dict[str, str]:
    """Return the variables that make the folder a program's home."""
    homes = {f"XDG_{kind}_HOME": f"{folder}/{kind}" for kind in ("CONFIG", "DATA", "CACHE")}
    return homes | {"HOME": str(folder), "XDG_STATE_HOME": f"{folder}/STATE"}


@contextmanager
def _server(
    command: list[str], folder: Path, variables: dict[str, str], address: str
) -> Iterator[None]:
    """Run a server for as long as the block lasts."""
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | _home(folder) | variables,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        wait_until(lambda: _answers(process, address), seconds=60, what=f"{command[0]} answers")
        yield
    finally:
        process.kill()
        process.wait()


def _answers(process: "subprocess.Popen[bytes]", address: str) -> bool:
    if process.poll() is not None:
        raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


def _from_pypi(folder: Path, *requirements: str, least: tuple[int, int] = (3, 11)) -> Path:
    """Install into a new virtual environment; return the folder of its programs."""
    programs = folder / "venv" / "bin"
    _install([_python(least), "-m", "venv", f"{folder}/venv"], folder)
    pip = [f"{programs}/python", "-m", "pip", "install", "--quiet", "--retries=1"]
    _install([*pip, *requirements], folder)
    return programs


def _from_npm(folder: Path, package: str) -> Path:
    """Install below the folder; return the folder of the packages."""
    npm = shutil.which("npm")
    if npm is None:
        raise Absent("needs npm")
    _install([npm, "install", "--fetch-retries=1", f"--prefix={folder}", package], folder)
    return folder / "node_modules"


def _install(command: list[str], folder: Path) -> None:
    """Run an installer with its user's settings, which name the registries, but no cache there."""
    caches = {"PIP_NO_CACHE_DIR": "1", "npm_config_cache": f"{folder}/npm"}
    try:
        subprocess.run(
            command,
            env=os.environ | caches | {"XDG_CACHE_HOME": f"{folder}/CACHE"},
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise Absent(f"not installed within {INSTALL_SECONDS} s") from None
    except subprocess.CalledProcessError as failure:
        raise Absent(_said(failure.stderr)) from None


def _said(errors: str) -> str:
    """Return what an installer gives as the cause, without addresses."""
    lines = [line for line in errors.splitlines() if line.startswith(("ERROR:", "npm error"))]
    return re.sub(r"\S+://\S+", "…", lines[0] if lines else "the installer failed")[:100]


def _python(least: tuple[int, int]) -> str:
    """Return an interpreter that is new enough: ours, or the oldest of the others."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    names = (shutil.which(f"python3.{minor}") for minor in range(least[1], 20))
    others = [*filter(None, names), *map(str, sorted(root.glob("versions/3.*/bin/python3")))]
    show = "import json, sys; print(json.dumps(sys.version_info[:2]))"
    found = {}
    for python in [sys.executable, *others]:
        shown = subprocess.run([python, "-c", show], capture_output=True, text=True, check=False)
        if shown.returncode == 0 and (version := tuple(json.loads(shown.stdout))) >= least:
            found[python] = version
    if not found:
        raise Absent(f"needs Python {least[0]}.{least[1]} or newer")
    return sys.executable if sys.executable in found else min(found, key=found.__getitem__)
