"""Pending and lanes: what runs next, in the order of the store, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from echomq_admin.charts import ring as picture
from echomq_admin.charts.dots import marks
from echomq_admin.live.page import BadParameter, Page, Shaped, Watch, from_path, to_path
from echomq_admin.live.scene import Scene
from echomq_admin.live.signs import unserved
from echomq_admin.views.listing import clean_cursor, listed, side_of, trouble
from echomq_admin.views.show import show
from queue_core import keys
from queue_core.errors import EchoMQError
from queue_core.plans import Plan
from queue_core.reads import ring as ring_read
from queue_core.reads import window as window_read
from queue_core.reads.ring import Lane, Ring, Siding
from queue_core.states import State

ORDERS = ("ring", "wait", "depth")

TABLE = 16
"""Lanes in the table: drawn with their buttons they fit one frame of a socket. Others are found
by name, or by another order."""

IDLE = 3
"""Lanes with nothing waiting that are listed after them."""

PIPS = 6
"""Up to this limit a lane's slots are drawn one by one."""


def _clean(raw: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    kept = []
    if order := raw.get("order", ""):
        if order not in ORDERS:
            raise BadParameter(f"order is one of {', '.join(ORDERS)}")
        kept.append(("order", order))
    lane = raw.get("lane", "")
    if named := raw.get("find", "").strip():
        lane = to_path(named.encode("utf-8", "surrogatepass"))
    if lane:
        from_path(lane)
        kept.append(("lane", lane))
    return (*clean_cursor(raw), *kept)


def _lane(watch: Watch) -> bytes:
    lane = watch.param("lane")
    return from_path(lane) if lane else b""


def _look(watch: Watch, _scene: Scene) -> Sequence[Plan[Any]]:
    q, lane = keys.found(watch.queue), _lane(watch)
    side, cursor = side_of(watch)
    page = window_read.lane(q, lane, side, cursor) if lane else window_read.pending(q, side, cursor)
    return ring_read.ring(q, lane), page


@dataclass(frozen=True, slots=True)
class LaneRow:
    """A lane as the table shows it. `share` is the part of the claims that the ring promises it
    while every lane has enough waiting, in percent; `reach` its depth as a length of 0..36,
    logarithmic, behind the five jobs drawn one by one."""

    lane: Lane
    share: float | None
    dots: str
    reach: int
    filled: str
    free: str
    width: int

    @property
    def key(self) -> str:
        """The lane's name as an address and an element's id know it."""
        return to_path(self.lane.name)


def _reach(depth: int) -> int:
    return 0 if depth <= 5 else min(36, 2 * depth.bit_length())


def _rows(lanes: Sequence[Lane], ring: Ring) -> list[LaneRow]:
    promised = sum(lane.takes for lane in ring.turns)
    rows = []
    for lane in lanes:
        depth, limit = lane.depth or 0, lane.limit or 0
        drawn = lane.limit is not None and 0 <= limit <= PIPS
        busy = min(lane.in_flight, limit) if drawn else 0
        share = 100 * lane.takes / promised if lane.turn is not None and promised else None
        rows.append(
            LaneRow(
                lane=lane,
                share=share,
                dots=marks(range(min(depth, 5)), 9),
                reach=_reach(depth),
                filled=marks(range(busy), 11),
                free=marks(range(busy, limit if drawn else 0), 11),
                width=11 * limit if drawn else 0,
            )
        )
    return rows


def _ordered(ring: Ring, order: str) -> tuple[Sequence[Lane], Sequence[Lane]]:
    """The lanes of the table: those in the ring, those out of it, in the order asked for."""
    turns, aside = list(ring.turns), picture.sided(ring)
    if order == "wait":
        turns.sort(key=lambda lane: (lane.oldest_ms is None, lane.oldest_ms or 0))
        aside.sort(key=lambda lane: (lane.oldest_ms is None, lane.oldest_ms or 0))
    elif order == "depth":
        turns.sort(key=lambda lane: -(lane.depth or 0))
    return turns, aside


def _beside(ring: Ring) -> str:
    """Out of the ring: 2 at their limit, 1 paused, 301 with nothing waiting."""
    words = {
        Siding.at_limit: "at their limit",
        Siding.paused: "paused",
        Siding.left_out: "never offered",
        Siding.idle: "with nothing waiting",
        Siding.unknown: "unreadable",
    }
    counted = [
        (sum(lane.siding is why for lane in ring.aside), said) for why, said in words.items()
    ]
    return ", ".join(f"{number:,} {said}" for number, said in counted if number)


def _lanes(result: Any, watch: Watch) -> dict[str, Any]:
    if isinstance(result, EchoMQError):
        return {"lanes_trouble": trouble(result)}
    ring: Ring = result.value
    order = watch.param("order", "ring")
    turns, aside = _ordered(ring, order)
    focus = _lane(watch)
    chosen = ring.named(focus) if focus else None
    if chosen and chosen not in turns[:TABLE] and chosen not in aside[:TABLE]:
        aside = [chosen, *(lane for lane in aside if lane is not chosen)]
    shown_aside = aside[: max(TABLE // 3, TABLE - len(turns))]
    shown_turns = turns[: TABLE - len(shown_aside)]
    idle = [lane for lane in ring.aside if lane.siding is Siding.idle and lane is not chosen]
    return {
        "ring": ring,
        "ring_said": picture.sentence(ring),
        "lanes_complete": result.complete,
        "lanes_why": result.why,
        "order": order,
        "orders": [("ring", "Ring order"), ("wait", "Longest wait"), ("depth", "Most waiting")],
        "turn_rows": _rows(shown_turns, ring),
        "aside_rows": _rows(shown_aside, ring),
        "idle_rows": _rows(idle[:IDLE], ring),
        "idle_more": max(0, len(idle) - IDLE),
        "unshown": len(turns) - len(shown_turns) + len(aside) - len(shown_aside),
        "beside": _beside(ring),
        "waiting_lanes": sum(bool(lane.depth) for lane in ring.lanes),
        "chosen": chosen,
    }


def _shape(watch: Watch, scene: Scene, results: Sequence[Any | EchoMQError]) -> Shaped:
    lanes, page = results
    lane = _lane(watch)
    kept = (("lane", to_path(lane)),) if lane else ()
    sample = scene.sample(watch.queue)
    completed = sample.value.completed if sample is not None else None
    context = {
        **_lanes(lanes, watch),
        "list": listed(page, watch, kept),
        "unserved": unserved(scene, watch.queue, flat=not lane),
        "lane": lane,
        "lane_path": to_path(lane) if lane else "",
        "job_suffix": f"?lane={to_path(lane)}" if lane else "",
        "where": State.in_lane.value if lane else State.pending.value,
        "stays": f"?lane={to_path(lane)}" if lane else "?",
    }
    whole = not isinstance(lanes, EchoMQError)
    return Shaped(
        context=context,
        data={"ring-chart": picture.numbers(lanes.value, completed)} if whole else {},
        at_ms=None if isinstance(page, EchoMQError) else page.at_ms,
        complete=whole and lanes.complete and not isinstance(page, EchoMQError),
        why=lanes.why if whole else str(lanes),
    )


PENDING = Page(
    name="pending",
    title="Pending and lanes",
    reading="The score is 0, so the byte order of the id is the order: oldest mint first.",
    panels={
        "ring": "echomq_admin/pending/ring.html",
        "lanes": "echomq_admin/pending/lanes.html",
        "waiting": "echomq_admin/pending/waiting.html",
    },
    look=_look,
    shape=_shape,
    clean=_clean,
)


@require_safe
def pending(request: HttpRequest, bus: str, queue: bytes) -> HttpResponse:
    """What waits, flat and in lanes."""
    return show(request, PENDING, bus, queue)
