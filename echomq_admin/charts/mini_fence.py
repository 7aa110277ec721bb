"""The fence in miniature: late on its left, waiting on its right, log time and log height."""

from __future__ import annotations

import math
from dataclasses import dataclass

from queue_core.reads.sample import LATE_BUCKETS, Sample

WIDTH, HEIGHT = 76, 28
FENCE_X, BASE_Y, PITCH, BAR = 26, 23.0, 4, 3


@dataclass(frozen=True, slots=True)
class MiniFence:
    """Bars as path data, `late` in strong ink and `waiting` in the colour of the schedule."""

    late: str
    waiting: str


def _bar(x: float, number: int) -> str:
    tall = min(20.0, round(3 + 5 * math.log10(number), 1))
    return f"M{x:g} {BASE_Y:g}v-{tall:g}h{BAR}v{tall:g}z"


def mini_fence(sample: Sample) -> MiniFence | None:
    """The picture of one sample; None where nothing is scheduled or it is not known."""
    if not sample.schedule or not sample.fence:
        return None
    late, waiting = sample.fence[:LATE_BUCKETS], sample.fence[LATE_BUCKETS:]
    left = "".join(
        _bar(FENCE_X - PITCH * (len(late) - at), number) for at, number in enumerate(late) if number
    )
    right = "".join(
        _bar(FENCE_X + BAR + PITCH * at, number) for at, number in enumerate(waiting) if number
    )
    return MiniFence(left, right)
