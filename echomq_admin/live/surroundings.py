"""What stands around every page: the rail of queues, the vitals, the banners, a queue's head.

They are panels like a page's own, drawn by the same templates on first paint and in frames.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from echomq_admin.buses import bus_urls
from echomq_admin.live.page import Page, Watch, to_path
from echomq_admin.live.scene import Scene, Scenes, host_ms
from echomq_admin.live.signs import flags
from echomq_admin.permissions import read_only
from echomq_admin.templatetags.echomq import address
from echomq_admin.templatetags.units import spell_duration
from queue_core.reads.sample import Sample

RAIL_QUEUES = 30
"""Queues the rail lists of each bus; the overview has them all."""

PANELS = {
    "rail-queues": "echomq_admin/frame/rail_queues.html",
    "vitals": "echomq_admin/frame/vitals.html",
    "banners": "echomq_admin/frame/banners.html",
}
QUEUE_PANELS = {"queue-head": "echomq_admin/frame/queue_head.html"}

STRETCHED_MS = 1_000
"""A tick that takes longer than this is said to be stretched."""

_BAR_WIDTH, _BAR_GAP = 56.0, 1.0


def bars(sample: Sample) -> list[dict[str, Any]]:
    """The counts of a queue side by side, by the logarithm of each: a hint, no measure."""
    parts = [
        ("pending", (sample.pending or 0) + (sample.in_lanes or 0)),
        ("active", sample.active or 0),
        ("scheduled", sample.schedule or 0),
        ("dead", sample.dead or 0),
    ]
    held = [(state, math.log10(1 + number)) for state, number in parts if number]
    room = _BAR_WIDTH - _BAR_GAP * max(0, len(held) - 1)
    whole = sum(weight for _, weight in held)
    drawn, x = [], 0.0
    for state, weight in held:
        width = round(room * weight / whole, 1)
        drawn.append({"state": state, "x": round(x, 1), "width": width})
        x += width + _BAR_GAP
    return drawn


def counts(sample: Sample) -> str:
    """Figures for the palette, which writes the words: waiting, held, scheduled, late, dead,
    repeats and workers; - where unknown, + behind what is at least so many."""
    waiting = "-" if sample.waiting is None else f"{sample.waiting}"
    if not sample.lanes_complete and waiting != "-":
        waiting += "+"
    rest = (sample.active, sample.schedule, sample.late, sample.dead, sample.repeats)
    known = ["-" if number is None else f"{number}" for number in (*rest, sample.workers)]
    return " ".join([waiting, *known])


def _note(scene: Scene) -> tuple[str, bool]:
    if scene.status.state in {"unreachable", "forbidden", "fence"}:
        return {"forbidden": "not permitted", "fence": "other version"}.get(
            scene.status.state, "unreachable"
        ), True
    if scene.tick_ms > STRETCHED_MS:
        return f"{spell_duration(scene.tick_ms)} tick", True
    if scene.partial:
        return "partial", True
    if scene.primaries > 1:
        return f"Cluster, {scene.primaries} shards", False
    return "", False


def rail(scenes: Scenes, watch: Watch) -> list[dict[str, Any]]:
    """The buses and their queues, each bus with the moment of its last answer by the page's clock.
    A bus that is away shows its queues as unknown."""
    own = scenes.get(watch.bus)
    now_ms = own.now_ms if own is not None else host_ms()
    groups = []
    for name, scene in scenes.items():
        note, warn = _note(scene)
        off = scene.status.state not in {"live", "asking"}
        shown = scene.queues[:RAIL_QUEUES]
        if name == watch.bus and watch.queue and watch.queue not in shown:
            shown = (*shown, watch.queue)
        queues = []
        for queue in shown:
            seen = scene.sample(queue)
            queues.append(
                {
                    "name": queue,
                    "page": watch_page(watch),
                    "flags": () if off else flags(scene, queue)[:2],
                    "bars": None if off or seen is None else bars(seen.value),
                    "counts": "" if off or seen is None else counts(seen.value),
                }
            )
        groups.append(
            {
                "bus": name,
                "id": f"rail{to_path(name.encode())}",
                "at_ms": now_ms - scene.age_ms() if scene.last_ms else None,
                "note": note,
                "warn": warn,
                "off": off,
                "queues": queues,
                "more": max(0, len(scene.queues) - len(shown)),
            }
        )
    return groups


def ages(groups: list[dict[str, Any]]) -> dict[str, int]:
    """When each bus of the rail last answered: its markup is not sent for time to pass."""
    return {group["id"]: group["at_ms"] for group in groups if group["at_ms"] is not None}


def watch_page(watch: Watch) -> str:
    """The page a queue's link leads to: the reading one is on, else the schedule."""
    return watch.page if watch.page in _TABBED else "schedule"


def vitals(scenes: Scenes, watch: Watch, walled: bool) -> list[dict[str, Any]]:
    """The facts of the top bar: the round trip of one bus, or how many of them answer. A wall
    counts none that lets it wait; a page that asks no bus, those that answered when asked last."""
    if watch.bus:
        scene = scenes[watch.bus]
        if scene.state == "live" and scene.ping_ms is not None:
            return [
                {
                    "word": watch.bus,
                    "icon": "completed",
                    "value": f"{scene.ping_ms:.1f} ms",
                    "title": "Round trip to the bus, the quickest of the last twenty",
                }
            ]
        stands = "stale" if scene.state == "stale" else _note(scene)[0] or "asking"
        word = f"{watch.bus} {stands}"
        why = scene.status.why or "The bus lets its last question wait"
        return [{"icon": "warn", "hot": True, "value": word, "title": why}]
    states = [scene.state if walled else scene.status.state for scene in scenes.values()]
    live = states.count("live")
    hot = live < len(scenes)
    word = "bus" if len(scenes) == 1 else "buses"
    return [
        {
            "icon": "warn" if hot else "completed",
            "hot": hot,
            "value": f"{live} of {len(scenes)} {word}",
            "title": "Buses that answered when asked last",
        }
    ]


def _bus_banners(scene: Scene) -> list[dict[str, Any]]:
    status, told = scene.status, []
    if status.state == "unreachable":
        tries = f" Tried {status.tries} times." if status.tries > 1 else ""
        told.append(
            {
                "hot": True,
                "icon": "plug",
                "since_ms": status.since_ms,
                "title": f"{scene.bus} is unreachable",
                "text": f"{status.why}{tries} Jobs may well be running. Numbers keep their age.",
            }
        )
    elif status.state == "fence":
        told.append(
            {
                "hot": True,
                "icon": "warn",
                "title": f"{scene.bus} speaks another version",
                "text": status.why,
            }
        )
    elif status.state == "forbidden":
        told.append(
            {
                "hot": True,
                "icon": "lock",
                "title": f"{scene.bus} lets us read nothing",
                "text": status.why,
            }
        )
    if scene.partial:
        told.append(
            {
                "hot": True,
                "icon": "warn",
                "title": f"{scene.bus} answers in part",
                "text": scene.partial,
            }
        )
    if scene.missing:
        told.append(
            {
                "icon": "lock",
                "title": f"Not permitted on {scene.bus}",
                "text": " ".join(scene.missing.values()),
            }
        )
    return told + _standing_banners(scene)


def _standing_banners(scene: Scene) -> list[dict[str, Any]]:
    """What stays true until somebody configures the server otherwise."""
    told = []
    health = scene.health
    if health is not None and health.evicts:
        told.append(
            {
                "icon": "warn",
                "title": f"{scene.bus} evicts: {health.policy}",
                "text": "When memory is full the server deletes keys, and jobs with them. "
                "A queue needs noeviction.",
            }
        )
    if health is not None and health.role == "replica":
        told.append(
            {
                "hot": True,
                "icon": "lock",
                "title": f"{scene.bus} is a replica",
                "text": "Reads work; writes are unavailable until a primary answers.",
            }
        )
    return told


def banners(scenes: Scenes, watch: Watch) -> list[dict[str, Any]]:
    """What must be said above the page, of the bus one looks at or of all."""
    told = []
    if read_only():
        told.append(
            {
                "icon": "lock",
                "title": "Read-only",
                "text": "Writing is turned off. Every verb is listed and none can be pressed.",
            }
        )
    if watch.bus:
        return told + _bus_banners(scenes[watch.bus])
    for scene in scenes.values():
        told += _standing_banners(scene)
    return told


@dataclass(frozen=True, slots=True)
class Tab:
    """One reading of a queue: its page, word, glyph, and the key after g that leads there."""

    page: str
    word: str
    icon: str
    colour: str
    key: str


TABS = (
    Tab("pending", "Pending & lanes", "pending", "s-pending", "p"),
    Tab("schedule", "Schedule", "scheduled", "s-scheduled", "s"),
    Tab("active", "Active", "active", "s-active", "a"),
    Tab("dead", "Dead", "dead", "s-dead", "d"),
    Tab("repeats", "Repeat", "repeat", "", "r"),
    Tab("backoff", "Backoff", "curve", "", "b"),
    Tab("workers", "Workers", "workers", "", "w"),
)
_TABBED = {tab.page for tab in TABS}
_COUNTED = {
    "pending": "waiting",
    "schedule": "schedule",
    "active": "active",
    "dead": "dead",
    "repeats": "repeats",
    "workers": "workers",
}


def queue_head(scene: Scene, watch: Watch) -> dict[str, Any]:
    """Title, tabs with their counts, and whether the queue is paused."""
    seen = scene.sample(watch.queue)
    tabs = []
    for tab in TABS:
        counted = _COUNTED.get(tab.page)
        number = getattr(seen.value, counted) if seen and counted else None
        tabs.append(
            {
                "page": tab.page,
                "word": tab.word,
                "icon": tab.icon,
                "colour": tab.colour,
                "key": tab.key,
                "counted": counted is not None,
                "count": number,
                "complete": tab.page != "pending"
                or (seen is not None and seen.value.lanes_complete),
                "href": address(tab.page, watch.bus, watch.queue),
            }
        )
    return {
        "tabs": tabs,
        "paused": bool(seen and seen.value.paused),
        "flags": flags(scene, watch.queue),
    }


def navigation(watch: Watch) -> list[dict[str, Any]]:
    """The pages that are of no queue."""
    bus = watch.bus or next(iter(bus_urls()), "")
    entries = [
        ("overview", "Overview", "overview", address("overview")),
        ("boards", "Boards", "board", address("boards", bus)),
        ("audit", "Audit", "audit", address("audit")),
    ]
    current = {"board": "boards"}.get(watch.page, watch.page)
    return [
        {"word": word, "icon": icon, "href": href, "current": page == current}
        for page, word, icon, href in entries
    ]


def phone_queue(scenes: Scenes, watch: Watch) -> dict[str, Any] | None:
    """The queue that the phone's bottom bar leads to: the one at hand, else the fullest seen."""
    if watch.queue:
        return {"bus": watch.bus, "name": watch.queue}
    seen = [
        ((one.value.schedule or 0) + (one.value.waiting or 0), bus, queue)
        for bus, scene in scenes.items()
        for queue, one in scene.samples.items()
    ]
    if not seen:
        return None
    _, bus, queue = max(seen)
    return {"bus": bus, "name": queue}


def context(page: Page, watch: Watch, scenes: Scenes) -> dict[str, Any]:
    """What the panels around a page draw from."""
    scene = scenes.get(watch.bus)
    found: dict[str, Any] = {
        "rail": rail(scenes, watch),
        "vitals": vitals(scenes, watch, walled=not page.of_bus),
        "banners": banners(scenes, watch),
    }
    if scene is not None and page.of_queue:
        found["sample"] = scene.sample(watch.queue)
        found["head"] = queue_head(scene, watch)
    return found
