"""Agents for tests: in memory through the SDK's client, or as real processes."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client

from bench.agent import Agent, Reply
from coordination.models import Session
from mcp_bridge.identity import Identity
from mcp_bridge.server import Bridge
from tests.databases import rows

__all__ = ["rows"]

Call = Callable[..., Any]


@pytest.fixture
def sessions(transactional_db: None) -> None:
    """The participants that every new database has."""
    for position, key in enumerate(("panel", "app", "human")):
        Session.objects.get_or_create(key=key, defaults={"position": position})


@asynccontextmanager
async def working_as(key: str, *, mode: str = "auto") -> AsyncIterator[Call]:
    """Yield `call(tool, **arguments)` for an agent in this process."""
    async with Client(Bridge(Identity(key)).server, mode=mode) as client:

        async def call(name: str, /, **arguments: Any) -> Reply:
            result = await client.call_tool(name, arguments)
            (block,) = result.content
            return Reply(block.text, result.is_error)

        yield call


@pytest.fixture
def start(database_file: Path) -> Iterator[Callable[..., Agent]]:
    """Start real agents on one database; none survives the test."""
    agents: list[Agent] = []

    def start_agent(session: str = "panel", **options: Any) -> Agent:
        agents.append(Agent(session, **({"database": database_file} | options)))
        return agents[-1]

    yield start_agent
    for agent in agents:
        agent.kill()
