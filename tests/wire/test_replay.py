"""The recorded behaviour of the wire, replayed through our verbs over both buses."""

from collections.abc import Callable
from typing import Any

import pytest
import redis

from tests.wire.better import BETTER
from tests.wire.replay import VECTORS, Replay

FILES = sorted(path.stem for path in VECTORS.glob("*.json"))


@pytest.mark.parametrize("file", FILES)
def test_replay(file: str, run: Callable[[Any], Any], server: Any) -> None:
    with redis.Redis.from_url(server.url) as client:
        Replay(file, client, run, [one for one in BETTER if one.file == file])()


def test_every_difference_is_of_a_recorded_step() -> None:
    assert {one.file for one in BETTER} <= set(FILES)
    places = [(one.file, one.step) for one in BETTER]
    assert len(places) == len(set(places))
