"""Random sequences of every verb over several queues, lanes and workers, against a pure model."""

import logging
import secrets

import pytest

from queue_core.bus import Bus, connect
from tests.proof.machine import stroll, walk
from tests.servers import Redis, running

FIXED_SEED = 20_240_101

_log = logging.getLogger(__name__)


@pytest.mark.parametrize("number", [FIXED_SEED, secrets.randbits(32)], ids=["fixed", "fresh"])
def test_no_sequence_of_verbs_leaves_the_model(bus: Bus, number: int) -> None:
    _log.warning("the model is walked with seed %d", number)
    steps = walk(bus, 25, 120, number)
    assert steps > 1_500


def test_nor_does_it_on_a_redis_that_is_older() -> None:
    number = secrets.randbits(32)
    _log.warning("the model is strolled through with seed %d", number)
    with running(Redis) as servers:
        bus = connect(servers.url)
        assert stroll(bus, 2_000, number) > 2_000
        bus.close()
