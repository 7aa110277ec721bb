"""The registry as rows on the time axis: runs that were, the next one, those after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from echomq_admin.charts.axis import REACHES_MS
from echomq_admin.charts.fence import runs
from echomq_admin.templatetags.payload import preview
from queue_core.reads.repeats import Repeat

ROWS = 16
LATER_RUNS = 6
LEAST_MS, MOST_MS = 60_000, 2_592_000_000
"""The axis reaches a minute to thirty days to each side; what lies further is clipped."""


def _reach(distances: Sequence[int]) -> int:
    wanted = max(distances, default=0) * 1.1
    return next((reach for reach in REACHES_MS if reach >= wanted), MOST_MS)


def series(repeats: Sequence[Repeat], now_ms: int) -> dict[str, Any]:
    """Rows for the chart. Past runs are `[due or null, fired]`, coming ones ms; a parked repeat
    has none coming. `back` and `ahead` are how far the axis reaches, in ms."""
    rows = [
        {
            "name": preview(repeat.name, 28),
            "parked": repeat.parked,
            "past": [[run.due_ms, run.fired_ms] for run in repeat.runs],
            "coming": runs(repeat, LATER_RUNS),
            "invalid": repeat.found != "record" or repeat.every_ms is None,
        }
        for repeat in repeats[:ROWS]
    ]
    firsts = [repeat.next_ms for repeat in repeats[:ROWS] if repeat.next_ms is not None]
    back = [now_ms - run.fired_ms for repeat in repeats[:ROWS] for run in repeat.runs[:6]]
    late = [now_ms - first for first in firsts if first < now_ms]
    ahead = [
        repeat.every_ms * 2 for repeat in repeats[:ROWS] if repeat.every_ms and not repeat.parked
    ]
    return {
        "rows": rows,
        "back": _reach([*back, *late]),
        "ahead": _reach([*ahead, *(first - now_ms for first in firsts)]),
        "more": max(0, len(repeats) - ROWS),
    }
