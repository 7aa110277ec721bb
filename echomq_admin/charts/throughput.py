"""What came in and went out, from the samples of the last minutes.

Out is what the bus counted as completed; in is out and the change of all that the queue holds.
Where a sample is missing or a part of it unknown there is no figure, and never a zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from queue_core.reads.sample import Sample

HOLE_MS = 20_000
"""Samples further apart than this say nothing of the time between."""

History = Sequence[tuple[int, Sample]]


@dataclass(frozen=True, slots=True)
class Rate:
    """Jobs a second, None where unknown."""

    came: float | None
    went: float | None


UNKNOWN = Rate(None, None)


def between(older: tuple[int, Sample], newer: tuple[int, Sample]) -> Rate:
    """The rates between two samples of one queue."""
    (began, before), (ended, after) = older, newer
    seconds = (ended - began) / 1000
    if seconds <= 0 or ended - began > HOLE_MS:
        return UNKNOWN
    if before.completed is None or after.completed is None or after.completed < before.completed:
        return UNKNOWN
    went = (after.completed - before.completed) / seconds
    if before.held is None or after.held is None:
        return Rate(None, went)
    came = went + (after.held - before.held) / seconds
    # Removed jobs leave without being counted; then what came in cannot be told.
    return Rate(came if came >= 0 else None, went)


def latest(history: History, span_ms: int = 10_000) -> Rate:
    """The rates of the last seconds, from the newest sample and one about `span_ms` before; of
    fewer seconds where nobody watched for so long."""
    if len(history) < 2:
        return UNKNOWN
    newest = history[-1]
    near = [one for one in history[:-1] if newest[0] - one[0] <= HOLE_MS]
    enough = [one for one in near if newest[0] - one[0] >= span_ms]
    return between(enough[-1] if enough else near[0], newest) if near else UNKNOWN


def buckets(history: History, now_ms: int, count: int, step_ms: int) -> list[Rate]:
    """`count` buckets of `step_ms` up to now, oldest first. A bucket less than half covered by
    samples is unknown."""
    came, went = [0.0] * count, [0.0] * count
    covered, told = [0.0] * count, [0.0] * count
    start = now_ms - count * step_ms
    for older, newer in pairwise(history):
        rate = between(older, newer)
        for at in _overlapping(older[0], newer[0], start, step_ms, count):
            low, high = start + at * step_ms, start + (at + 1) * step_ms
            share = min(high, newer[0]) - max(low, older[0])
            if rate.went is not None:
                went[at] += rate.went * share
                covered[at] += share
            if rate.came is not None:
                came[at] += rate.came * share
                told[at] += share
    half = step_ms / 2
    return [
        Rate(
            came[at] / told[at] if told[at] >= half else None,
            went[at] / covered[at] if covered[at] >= half else None,
        )
        for at in range(count)
    ]


def _overlapping(began: int, ended: int, start: int, step: int, count: int) -> range:
    return range(max(0, (began - start) // step), min(count, (ended - start - 1) // step + 1))


def total(rates: Iterable[Rate]) -> Rate:
    """Several queues together; unknown while one of them is."""
    parts = list(rates)
    came = [rate.came for rate in parts if rate.came is not None]
    went = [rate.went for rate in parts if rate.went is not None]
    return Rate(
        sum(came) if parts and len(came) == len(parts) else None,
        sum(went) if parts and len(went) == len(parts) else None,
    )


@dataclass(frozen=True, slots=True)
class Spark:
    """Two rows of bars around one axis, as path data; `line` is the axis where the rates are
    known, `holes` where they are not."""

    width: int
    height: int
    came: str
    went: str
    line: str
    holes: str


def spark(rates: Sequence[Rate], width: int, height: int, gap: float = 1.0) -> Spark:
    """In above the axis, out below, on one scale."""
    axis = height / 2
    room = axis - 1.5
    pitch = width / max(1, len(rates))
    bar = max(1.0, round(pitch - gap, 1))
    top = max((n for rate in rates for n in (rate.came, rate.went) if n), default=1.0)
    up, down, line, holes = [], [], [], []
    for at, rate in enumerate(rates):
        x = round(at * pitch, 1)
        if rate.came:
            tall = round(max(1.0, room * rate.came / top), 1)
            up.append(f"M{x:g} {axis - 0.5:g}v-{tall:g}h{bar:g}v{tall:g}z")
        if rate.went:
            tall = round(max(1.0, room * rate.went / top), 1)
            down.append(f"M{x:g} {axis + 0.5:g}v{tall:g}h{bar:g}v-{tall:g}z")
        (holes if rate.went is None else line).append(f"M{x:g} {axis:g}h{pitch:.2f}")
    return Spark(width, height, "".join(up), "".join(down), "".join(line), "".join(holes))
