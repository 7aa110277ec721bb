"""The ring as numbers: the lanes in turn, and those on the siding with why."""

from __future__ import annotations

from typing import Any

from echomq_admin.live.page import to_path
from echomq_admin.templatetags.payload import preview
from queue_core.reads.ring import Lane, Ring, Siding

NODES = 12
"""Lanes drawn on the ring; more could not be told apart."""

PARKED = 4
"""Lanes drawn on the siding, those with most waiting."""

DOTS = 6
"""Jobs in flight drawn one by one beside a lane."""


def _node(lane: Lane) -> dict[str, Any]:
    name = preview(lane.name, 18)
    return {
        "key": to_path(lane.name),
        "name": name,
        "tail": f"…{name[-5:]}" if len(name) > 6 else name,
        "depth": lane.depth,
        "busy": min(lane.in_flight, DOTS),
        "takes": lane.takes,
        "why": lane.siding.value if lane.siding else "",
    }


def sided(ring: Ring) -> list[Lane]:
    """The lanes that are out of the ring although jobs wait in them, and the paused."""
    return [lane for lane in ring.aside if lane.siding is not Siding.idle]


def numbers(ring: Ring, completed: int | None) -> dict[str, Any]:
    """What the drawing needs. `completed` is the queue's counter of finished jobs, by which the
    drawing tells how fast turns are taken."""
    aside = sided(ring)
    return {
        "turns": [_node(lane) for lane in ring.turns[:NODES]],
        "inRing": ring.in_ring,
        "aside": [_node(lane) for lane in aside[:PARKED]],
        "moreAside": max(0, len(aside) - PARKED),
        "paused": ring.queue_paused,
        "completed": completed,
    }


def sentence(ring: Ring) -> str:
    """The picture in words, for those who do not see it."""
    if not ring.in_ring:
        return "The ring: no lane has a turn."
    head = preview(ring.turns[0].name, 40) if ring.turns else "unknown"
    lanes = "lane" if ring.in_ring == 1 else "lanes"
    return f"The ring: {ring.in_ring:,} {lanes} in turn, {head} is next; the table has each."
