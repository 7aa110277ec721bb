"""The recorded behaviour of the wire, replayed through our verbs over both buses."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import redis

from tests.wire.better import BETTER, FALL_BACK
from tests.wire.replay import VECTORS, Replay, after

FILES = sorted(path.stem for path in VECTORS.glob("*.json"))


@pytest.mark.parametrize("file", FILES)
def test_replay(file: str, run: Callable[[Any], Any], server: Any) -> None:
    with redis.Redis.from_url(server.url) as client:
        Replay(file, client, run, [one for one in BETTER if one.file == file])()


def test_every_difference_is_of_a_recorded_step() -> None:
    assert {one.file for one in BETTER} <= set(FILES)
    for listed in (BETTER, FALL_BACK):
        places = [(one.file, one.step) for one in listed]
        assert len(places) == len(set(places))


def test_every_marker_that_needs_expiring_fields_is_listed() -> None:
    """A step leaves other keys on an older server where the record has a field that expires."""
    marked: dict[tuple[str, int], set[str]] = {}
    for file in FILES:
        state: dict[str, Any] = {}
        for at, step in enumerate(json.loads((VECTORS / f"{file}.json").read_text())["steps"]):
            state = after(step, state)
            if found := {key for key, entry in state.items() if "field_ttl_ms" in entry}:
                marked[file, at] = found
    listed = {(one.file, one.step): set(one.keys) for one in FALL_BACK}
    # Nothing is marked at once where the job is gone.
    assert marked == listed | {("d07-lock-track-missing", 0): {"emq:{gq}:job:JOB09nSpIKi5uX"}}
