"""Random sequences of every verb over several queues, lanes and workers, against a pure model."""

import asyncio
import logging
import secrets
from collections.abc import Sequence
from typing import Any

import pytest

from queue_core.async_bus import AsyncBus, async_connect
from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.plans import Plan
from tests.proof.machine import stroll, walk
from tests.servers import Redis, running

FIXED_SEED = 20_240_101

_log = logging.getLogger(__name__)


@pytest.mark.parametrize("number", [FIXED_SEED, secrets.randbits(32)], ids=["fixed", "fresh"])
def test_no_sequence_of_verbs_leaves_the_model(bus: Bus, number: int) -> None:
    _log.warning("the model is walked with seed %d", number)
    steps = walk(bus, 60, 120, number)
    assert steps > 3_600


class Awaited:
    """The awaited bus, as a world asks for a bus."""

    def __init__(self, runner: asyncio.Runner, bus: AsyncBus) -> None:
        self._runner, self._bus = runner, bus

    def run(self, plan: Plan[Any]) -> Any:
        """The plan's result."""
        return self._runner.run(self._bus.run(plan))

    def run_all(self, plans: Sequence[Plan[Any]]) -> list[Any]:
        """All results."""
        return self._runner.run(self._bus.run_all(plans))


def test_nor_does_it_where_it_is_awaited(server: Embedded) -> None:
    number = secrets.randbits(32)
    _log.warning("the model is strolled through with seed %d", number)
    with asyncio.Runner() as runner:
        bus = runner.run(async_connect(server.url))
        assert stroll(Awaited(runner, bus), 4_000, number) > 4_000  # type: ignore[arg-type]
        runner.run(bus.close())


def test_nor_does_it_on_a_redis_that_is_older() -> None:
    number = secrets.randbits(32)
    _log.warning("the model is strolled through with seed %d", number)
    with running(Redis) as servers:
        bus = connect(servers.url)
        assert stroll(bus, 4_000, number) > 4_000
        bus.close()
