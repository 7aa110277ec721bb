"""The fence as numbers: marks, bars and repeats on the time axis, no HTML and no pixels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from echomq_admin.charts.axis import reach_back
from echomq_admin.live.page import to_path
from echomq_admin.templatetags.payload import preview
from queue_core.reads.glance import Trace
from queue_core.reads.repeats import Registry, Repeat
from queue_core.reads.schedule import Bar, Due, Fence
from queue_core.reads.snapshot import Snapshot

LATER_RUNS = 3
"""Runs of a repeat drawn hollow behind its next one."""

REPEAT_MARKS = 24

GRID_MS = 2_000
"""The grid on which the read puts the edges of its bars (`lua/reads/schedule_fence.lua`)."""


_KIND = {"delayed": "d", "retry": "r", "repeat": "p", "unknown": "u"}


def mark(due: Due[Trace]) -> list[Any]:
    """One job in few bytes: `[key, at, kind, tries, more]`.

    `key` names it in a path; `at` is its run-at in ms, null where the score is no moment; `kind`
    its first letter (p: fired by a repeat, u: no row to ask). `more` holds what is out of the
    ordinary: `id` where the key's bytes are no plain text, `score` where a reschedule must
    expect other text than `at`, `edge` past or future, `flag` seconds, orphan or wrongtype.
    """
    run_at = due.run_at_ms
    more: dict[str, str] = {}
    if not (due.member.isascii() and due.member.decode("ascii").isprintable()):
        more["id"] = preview(due.member, 40)
    if due.score != str(run_at):
        more["score"] = due.score
    if run_at is None:
        more["edge"] = "past" if due.score.startswith("-") else "future"
    if due.looks_like_seconds:
        more["flag"] = "seconds"
    elif due.job.found != "row":
        more["flag"] = due.job.found
    plain = [to_path(due.member), run_at, _KIND[due.job.kind], due.job.tries or 0]
    return [*plain, more] if more else plain


def _bars(bars: Iterable[Bar]) -> list[list[int]]:
    return [[bar.from_ms, bar.to_ms, bar.count] for bar in bars]


def _crowd(fence: Fence, now_ms: int) -> dict[str, int] | None:
    """Jobs that share the run-at of the last mark and found no mark themselves."""
    end = now_ms - now_ms % GRID_MS + fence.span_ms
    inside = sum(due.run_at_ms is not None and due.run_at_ms <= end for due in fence.next_marks)
    waiting = fence.total - fence.late - fence.beyond
    rest = waiting - inside - sum(bar.count for bar in fence.bars)
    last = fence.next_marks[-1].run_at_ms if fence.next_marks else None
    return {"at": last, "n": rest} if rest > 0 and last is not None else None


def runs(repeat: Repeat, later: int = LATER_RUNS) -> list[int]:
    """The next run and those that its cadence gives after it, in ms; none where it has no time
    or cannot be run. They hold as long as a pump of ours fires it, which keeps the slots."""
    if repeat.next_ms is None:
        return []
    every = repeat.every_ms if repeat.found == "record" else None
    if every is None:
        return [repeat.next_ms]
    return [repeat.next_ms + every * step for step in range(later + 1)]


def kinds(marks: Sequence[Due[Trace]], whole: bool) -> dict[str, Any]:
    """How many marks are of each kind; `whole` where they are all the jobs there are."""
    counted = {"delayed": 0, "retry": 0, "repeat": 0, "unknown": 0}
    for due in marks:
        counted[due.job.kind] += 1
    return {**counted, "whole": whole}


def series(
    seen: Snapshot[Fence], scale: str, registry: Snapshot[Registry] | None
) -> dict[str, Any]:
    """What the chart draws. Times are Unix ms of the bus, spans ms."""
    fence, now = seen.value, seen.at_ms
    marks = (*fence.late_marks, *fence.next_marks)
    back = None if fence.oldest_ms is None else now - fence.oldest_ms
    repeats = () if registry is None else registry.value.repeats[:REPEAT_MARKS]
    return {
        "scale": scale,
        "span": fence.span_ms,
        "back": reach_back(back),
        "total": fence.total,
        "late": fence.late,
        "beyond": fence.beyond,
        "marks": [mark(due) for due in marks],
        "bars": _bars(fence.bars),
        "lateBars": _bars(fence.late_bars),
        "crowd": _crowd(fence, now),
        "kinds": kinds(marks, len(marks) >= fence.total),
        "repeats": [
            {"name": preview(repeat.name, 24), "runs": runs(repeat)}
            for repeat in repeats
            if runs(repeat)
        ],
        "repeatTotal": None if registry is None else registry.value.total,
    }
