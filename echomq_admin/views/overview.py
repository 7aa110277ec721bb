"""The wall: every queue of every bus, worst at hand, calm when grey."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse

from echomq_admin.charts.mini_fence import mini_fence
from echomq_admin.charts.throughput import Rate, buckets, latest, spark, total
from echomq_admin.live.page import BadParameter, Page, Shaped, Watch, to_path
from echomq_admin.live.scene import STALE_MS, Scene, Scenes, host_ms
from echomq_admin.live.signs import flags
from echomq_admin.live.surroundings import STRETCHED_MS
from echomq_admin.templatetags.payload import visible
from echomq_admin.templatetags.units import size, spell_duration
from echomq_admin.views.show import show
from queue_core.plans import Plan
from queue_core.reads.health import Health
from queue_core.reads.sample import Sample

ROWS = 100
"""Queues drawn at once; the filter finds the others."""

ROW_BARS, TOTAL_BARS = 24, 60
SPAN_MS = 300_000

HOT_MS = 60_000
"""A job that has waited this long is written in strong ink."""

NEGLIGIBLE_MS = 20
"""A difference of clocks below this is the network's."""

STATE_WORDS = {"forbidden": "not permitted", "fence": "another version"}

LATE_MS = 2_000
"""Lateness below this is the promoter's own beat and nothing to look at."""

CELLS = (
    ("pending", "Pending"),
    ("in_lanes", "In lanes"),
    ("active", "Active"),
    ("schedule", "Scheduled"),
    ("dead", "Dead"),
    ("completed", "Completed"),
)

SUMMED = (
    *(name for name, _word in CELLS), "lanes", "lanes_at_limit", "workers", "late", "failed",
)  # fmt: skip
"""The counts of a queue that the bus strip adds up."""

ASIDE = 9
"""The rank of a queue that needs nobody."""


@dataclass(frozen=True, slots=True)
class Row:
    """One queue on the wall."""

    scene: Scene
    queue: bytes
    rank: int

    @property
    def id(self) -> str:
        return f"q{to_path(self.scene.bus.encode())}{to_path(self.queue)}"


def _rank(scene: Scene, queue: bytes) -> int:
    seen = scene.sample(queue)
    if scene.status.state not in {"live", "asking"} or seen is None:
        return 1
    if scene.now_ms - seen.at_ms > STALE_MS:
        return 3
    signs = flags(scene, queue)
    if signs:
        return signs[0].rank
    if seen.value.late and seen.value.worst_due is not None:
        return 5 if scene.now_ms - seen.value.worst_due > LATE_MS else ASIDE
    return ASIDE


def _rows(scenes: Scenes, wanted: str) -> list[Row]:
    return [
        Row(scene, queue, _rank(scene, queue))
        for scene in scenes.values()
        for queue in scene.queues
        if wanted in visible(queue).lower()
    ]


def _cells(sample: Sample, why: str) -> list[dict[str, Any]]:
    """The six counts and what waits in lanes, which may be a lower bound."""
    cells = [
        {"count": getattr(sample, name), "word": word, "complete": True, "why": why}
        for name, word in CELLS
    ]
    cells[1] |= {"complete": sample.lanes_complete, "lanes": sample.lanes}
    return cells


def _drawn(row: Row) -> dict[str, Any]:
    """What one row's template draws."""
    scene, seen = row.scene, row.scene.sample(row.queue)
    now = scene.now_ms
    off = scene.status.state not in {"live", "asking"} or seen is None
    found: dict[str, Any] = {
        "id": row.id, "bus": scene.bus, "name": row.queue, "rank": row.rank, "off": off,
        "seen": seen, "why": scene.status.why if seen is None or off else seen.why,
        "status": scene.status,
    }  # fmt: skip
    if off or seen is None:
        return found | {"columns": [word for _, word in CELLS]}
    value = seen.value
    history = scene.history(row.queue)
    return {
        **found,
        "sample": value,
        "cells": _cells(value, seen.why),
        "stale": now - seen.at_ms > STALE_MS,
        "slow": scene.tick_ms if scene.tick_ms > STALE_MS else None,
        "flags": flags(scene, row.queue),
        "rate": latest(history),
        "spark": spark(buckets(history, now, ROW_BARS, SPAN_MS // ROW_BARS), 71, 28),
        "fence": mini_fence(value),
        "hot_oldest": value.oldest_ms is not None and now - value.oldest_ms > HOT_MS,
        "hot_late": value.worst_due is not None and now - value.worst_due > LATE_MS,
        "missed": value.next_repeat is not None and value.next_repeat[1] < now,
    }


def _sum(samples: Sequence[Sample], name: str) -> int | None:
    parts = [getattr(sample, name) for sample in samples]
    known = [part for part in parts if part is not None]
    return sum(known) if known or not parts else None


def _misses(samples: Sequence[Sample], name: str) -> bool:
    """Whether a sum leaves something out that could not be read."""
    return any(getattr(sample, name) is None for sample in samples)


def _totals(rows: Sequence[Row], scenes: Iterable[Scene]) -> dict[str, Any]:
    """The bus strip: sums over what is known, and what they leave out; where nothing at all is
    known, no sum."""
    known = [(row, row.scene.sample(row.queue)) for row in rows if not _off(row)]
    samples = [seen.value for _, seen in known if seen is not None]
    late = [
        (row.scene.now_ms - seen.value.worst_due, row, seen.value.worst_due)
        for row, seen in known
        if seen is not None and seen.value.late and seen.value.worst_due is not None
    ]
    worst = max(late, key=lambda one: one[0], default=None)
    histories = [(row.scene, row.scene.history(row.queue)) for row, _ in known]
    series = [
        buckets(history, scene.now_ms, TOTAL_BARS, SPAN_MS // TOTAL_BARS)
        for scene, history in histories
    ]
    lost = not samples and (bool(rows) or any(scene.status.state != "live" for scene in scenes))
    more = None if lost else _more_dead(histories)
    columns = [total(column) for column in zip(*series, strict=True)] if series else []
    lanes = all(sample.lanes_complete for sample in samples)
    sums = {name: None if lost else _sum(samples, name) for name in SUMMED}
    return {
        **sums,
        "at_ms": _oldest(row for row, _ in known),
        "stale": any(_is_stale(row) for row, _ in known),
        "whole": {
            name: (lanes or not name.startswith(("in_lanes", "lanes")))
            and not _misses(samples, name)
            for name in SUMMED
        },
        "worst": worst,
        "dead_more": more,
        "dead_less": -more if more is not None else None,
        "rate": total(latest(history) for _, history in histories),
        "spark": spark(columns or [Rate(None, None)], 239, 40),
    }


def _more_dead(histories: Sequence[tuple[Scene, Sequence[tuple[int, Sample]]]]) -> int | None:
    """How many more are dead than five minutes ago; None while nobody has watched so long."""
    more = 0
    for scene, history in histories:
        if not history or scene.now_ms - history[0][0] < SPAN_MS * 0.9:
            return None
        first, last = history[0][1].dead, history[-1][1].dead
        if first is None or last is None:
            return None
        more += last - first
    return more if histories else None


def _busline(scene: Scene, rows: Sequence[Row]) -> dict[str, Any]:
    """What the line of one bus draws."""
    health = scene.health
    seen = [one.value for row in rows if (one := scene.sample(row.queue)) is not None]
    live = scene.state == "live"
    return {
        "id": f"bus{to_path(scene.bus.encode())}",
        "scene": scene,
        "health": health,
        "off": scene.status.state not in {"live", "asking"},
        "word": STATE_WORDS.get(scene.status.state, scene.status.state),
        "kind": f"Cluster, {scene.primaries} primaries" if scene.primaries > 1 else scene.where,
        "ping": "" if scene.ping_ms is None else f"{scene.ping_ms:.1f}",
        "skew": round(scene.skew_ms, -1) if abs(scene.skew_ms) >= NEGLIGIBLE_MS else 0,
        "memory": _memory(health) if health else "",
        "memory_bar": _memory_bar(health) if health else None,
        "workers": _sum(seen, "workers"),
        "chips": _chips(scene),
        "at_ms": scene.last_ms,
        "unused": live and not rows and health is not None and health.fence == b"",
        "none": live and not rows,
    }


def _memory(health: Health) -> str:
    if not health.memory_limit:
        return size(health.memory)
    return f"{size(health.memory)} of {size(health.memory_limit)}"


def _memory_bar(health: Health) -> float | None:
    if not health.memory or not health.memory_limit:
        return None
    return round(40 * min(1.0, health.memory / health.memory_limit), 1)


def _chips(scene: Scene) -> list[str]:
    chips = []
    if scene.tick_ms > STRETCHED_MS:
        chips.append(f"tick stretched to {spell_duration(scene.tick_ms)}")
    if scene.partial:
        chips.append("partial")
    if scene.health is not None and scene.health.evicts:
        chips.append(f"evicts: {scene.health.policy}")
    return chips


def _reading(scenes: Scenes, rows: Sequence[Row]) -> dict[str, Any]:
    unknown = sum(
        (row.rank == 1 and row.scene.sample(row.queue) is None) or _off(row) for row in rows
    )
    stale = sum(not _off(row) and _is_stale(row) for row in rows)
    return {
        "queues": len(rows),
        "buses": len(scenes),
        "fresh": len(rows) - unknown - stale,
        "stale": stale,
        "unknown": unknown,
    }


def _off(row: Row) -> bool:
    return row.scene.status.state not in {"live", "asking"}


def _is_stale(row: Row) -> bool:
    seen = row.scene.sample(row.queue)
    return seen is not None and row.scene.now_ms - seen.at_ms > STALE_MS


def _oldest(rows: Iterable[Row]) -> int | None:
    """When the oldest of the samples was taken, by this host's clock."""
    moments = [
        round(seen.at_ms - row.scene.skew_ms)
        for row in rows
        if (seen := row.scene.sample(row.queue)) is not None
    ]
    return min(moments, default=None)


def _state(scenes: Scenes, told: Mapping[str, int]) -> str:
    """How the wall stands as a whole: live as soon as one row is, and where none can tell, as
    the best of its buses."""
    if told["fresh"] or told["stale"]:
        return "live" if told["fresh"] else "stale"
    states = [scene.state for scene in scenes.values()]
    best = (state for state in ("live", "stale", "asking") if state in states)
    return next(best, states[0] if states else "live")


def _look(_watch: Watch, _scene: Scene) -> Sequence[Plan[Any]]:
    """Nothing of its own: the observer samples every queue while a wall is watched."""
    return ()


def _shape(watch: Watch, scenes: Any, _results: Sequence[Any]) -> Shaped:
    rows = _rows(scenes, watch.param("q").lower())
    worst_first = watch.param("sort") == "worst"
    shown = sorted(rows, key=lambda row: row.rank)[:ROWS] if worst_first else rows[:ROWS]
    groups = [
        _busline(scene, [row for row in rows if row.scene is scene])
        | {"rows": [_drawn(row) for row in shown if row.scene is scene]}
        for scene in scenes.values()
    ]
    drawn = {row["id"]: row for group in groups for row in group["rows"]}
    ordered = [drawn[row.id] for row in shown]
    parts = {id_: ("echomq_admin/overview/row.html", {"row": row}) for id_, row in drawn.items()}
    lines = {
        group["id"]: ("echomq_admin/overview/busline.html", {"group": group})
        for group in groups
        if group["off"] or not worst_first
    }
    fresh = _oldest(row for row in rows if not _off(row) and not _is_stale(row))
    totals, told = _totals(rows, scenes.values()), _reading(scenes, rows)
    return Shaped(
        {
            "groups": groups,
            "rows": ordered,
            "worst_first": worst_first,
            "wanted": watch.param("q"),
            "more": len(rows) - len(shown),
            "totals": totals,
            "told": told,
        },
        parts=parts | lines,
        ages=_ages(groups) | ({"totals": totals["at_ms"]} if totals["at_ms"] else {}),
        at_ms=fresh or totals["at_ms"] or host_ms(),
        state=_state(scenes, told),
    )


def _ages(groups: Sequence[dict[str, Any]]) -> dict[str, int]:
    """When each row and each bus was last read, by the bus's own clock."""
    ages = {group["id"]: group["at_ms"] for group in groups if group["at_ms"]}
    rows = [row for group in groups for row in group["rows"] if row["seen"] is not None]
    return ages | {row["id"]: row["seen"].at_ms for row in rows}


def _clean(raw: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    sort, wanted = raw.get("sort", ""), raw.get("q", "")
    if sort not in {"", "bus", "worst"}:
        raise BadParameter("sort is bus or worst")
    if len(wanted) > 200:
        raise BadParameter("a filter has at most 200 characters")
    found = [("q", wanted)] if wanted else []
    return tuple([*found, ("sort", sort)] if sort == "worst" else found)


OVERVIEW = Page(
    name="overview",
    title="Overview",
    reading="Every queue of every bus.",
    panels={
        "overview-reading": "echomq_admin/overview/reading.html",
        "totals": "echomq_admin/overview/totals.html",
        "wall": "echomq_admin/overview/wall.html",
    },
    look=_look,
    shape=_shape,
    clean=_clean,
    of_queue=False,
    of_bus=False,
)


def overview(request: HttpRequest) -> HttpResponse:
    """The page; on a phone worst first, as `js/theme.js` notes its width in a cookie."""
    raw = request.GET.dict()
    if request.COOKIES.get("echomq_narrow") == "1":
        raw.setdefault("sort", "worst")
    return show(request, OVERVIEW, raw=raw)
