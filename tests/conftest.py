"""A real server for every worker of the test run, and a queue of its own for every test."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from queue_core.async_bus import AsyncBus, async_connect
from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.ids import Minter
from queue_core.keys import QueueKeys, queue
from queue_core.plans import Plan
from queue_core.runtime import sweep

_names = itertools.count()
_minter = Minter(os.getpid() % 512)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    """A Valkey of this worker's own."""
    with_port = Embedded(tmp_path_factory.mktemp("valkey"))
    with_port.start()
    yield with_port
    with_port.kill()
    sweep()  # of the houses and owners that tests have killed


@pytest.fixture(scope="session")
def _bus(server: Embedded) -> Iterator[Bus]:
    made = connect(server.url)
    yield made
    made.close()


@pytest.fixture
def bus(_bus: Bus) -> Bus:
    """The blocking bus."""
    return _bus


@pytest.fixture
async def abus(server: Embedded) -> AsyncIterator[AsyncBus]:
    """The awaited bus, in the loop of the test."""
    made = await async_connect(server.url)
    yield made
    await made.close()


@pytest.fixture(scope="session")
def _awaited(server: Embedded) -> Iterator[Callable[[Plan[Any]], Any]]:
    """Runs plans on the awaited bus from tests that do not await."""
    with asyncio.Runner() as runner:
        made = runner.run(async_connect(server.url))
        yield lambda plan: runner.run(made.run(plan))
        runner.run(made.close())


@pytest.fixture(params=["blocking", "awaited"])
def run(request: pytest.FixtureRequest) -> Callable[[Plan[Any]], Any]:
    """`run(plan)` over either bus: every test that uses it runs twice."""
    if request.param == "blocking":
        made: Bus = request.getfixturevalue("_bus")
        return made.run
    awaited: Callable[[Plan[Any]], Any] = request.getfixturevalue("_awaited")
    return awaited


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The console's database is a file, since threads of a test share it, in a folder of this
    worker's that pytest removes."""
    folder = tmp_path_factory.mktemp("database")
    settings.DATABASES["default"].setdefault("TEST", {})["NAME"] = folder / "console.sqlite3"


@pytest.fixture
def q() -> QueueKeys:
    """The keys of a queue that no other test uses."""
    return queue(f"t{os.getpid()}.{next(_names)}")


@pytest.fixture
def mint() -> Callable[[], bytes]:
    """Mints job ids."""
    return _minter.mint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for a server of this test alone."""
    return tmp_path / "data"
