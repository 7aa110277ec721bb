"""When a pump looks again: on the server's ms, not before and not a ms later."""

import math
import time

import pytest

from queue_core.keys import queue
from queue_core.work.pump import HEARD_MS, TICK_MS, Due, Turn

NOW = 1_800_000_000_000


@pytest.mark.parametrize(
    ("found", "wait_ms"),
    [
        (Due(NOW, NOW + 10, None, 0, 250), 9.75),
        (Due(NOW, NOW + 10, NOW + 3, 0, 0), 3),
        (Due(NOW, NOW + 10.2, None, 0, 999), 10.001),
        (Due(NOW, NOW + 0.5, None, 0, 600), 0.4),
        (Due(NOW, NOW, NOW + 9, 0, 999), 0),
        (Due(NOW, -math.inf, None, 0, 1), 0),
        (Due(NOW, NOW + 10, None, 2, 1), 0),
        (Due(NOW, math.inf, None, 0, 1), math.inf),
        (Due(NOW, None, None, 0, 1), math.inf),
    ],
)
def test_the_wait_ends_on_the_ms_that_makes_it_due(found: Due, wait_ms: float) -> None:
    assert found.wait_ms == pytest.approx(wait_ms)


def test_a_head_that_is_near_is_promoted_from_without_a_look() -> None:
    turn = Turn(queue(b"q"))
    turn.looked(Due(NOW, NOW + 40, None, 0, 500), told=True)
    assert turn.coming is not None
    assert turn.coming.wait_ms == 0
    assert not turn.is_due(time.monotonic())
    turn.hear([queue(b"q").schedule])
    assert turn.coming is None


@pytest.mark.parametrize(
    "found",
    [
        Due(NOW, NOW + HEARD_MS + 1, None, 0),
        Due(NOW, None, NOW + 5, 0),
        Due(NOW, NOW + 50, NOW + 5, 0),
        Due(NOW, math.inf, None, 0),
        Due(NOW, None, None, 0),
    ],
)
def test_anything_else_is_looked_at_first(found: Due) -> None:
    turn = Turn(queue(b"q"))
    turn.looked(found, told=True)
    assert turn.coming is None


def test_without_being_told_a_pump_looks_each_tick() -> None:
    turn = Turn(queue(b"q"))
    before = time.monotonic()
    turn.looked(Due(NOW, NOW + 10_000, None, 0), told=False)
    assert turn.is_due(time.monotonic() + TICK_MS / 1000)
    assert not turn.is_due(before + TICK_MS / 1000 - 0.001)
