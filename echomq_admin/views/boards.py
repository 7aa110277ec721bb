"""The boards of a bus: every game that has one, as far as a walk through the bus has met them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from echomq_admin.live.page import Page, Shaped, Watch, from_path, to_path
from echomq_admin.live.scene import Scene
from echomq_admin.live.walk import Walk, Walks
from echomq_admin.views.listing import trouble
from echomq_admin.views.show import show
from queue_core.errors import EchoMQError
from queue_core.plans import Plan
from queue_core.reads import boards as read

PAGE_SIZE = 40
LEADERS = 3

_walks = Walks()


def _clean(raw: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    text = raw.get("after", "")
    return (("after", to_path(from_path(text))),) if text else ()


def _shown(watch: Watch) -> tuple[list[bytes], bool]:
    """The games of this page, and whether more follow."""
    names = _walks.of(watch.bus).names
    after = watch.param("after")
    start = bisect_right(names, from_path(after)) if after else 0
    return names[start : start + PAGE_SIZE], len(names) > start + PAGE_SIZE


def _step(walk: Walk, node: str | None) -> Plan[None]:
    step = yield from read.games(walk.cursor(node), node)
    walk.take(step.cursor, step.games, node)


def _head(game: bytes) -> Plan[dict[str, Any]]:
    """A row of the list. What fails is told in its own row; the other games live on."""
    try:
        seen = yield from read.board(game, top=LEADERS)
    except EchoMQError as fault:
        return {"game": game, "trouble": trouble(fault)}
    return {"game": game, "board": seen.value, "at_ms": seen.at_ms}


def _look(watch: Watch, scene: Scene) -> Sequence[Plan[Any]]:
    walk = _walks.of(watch.bus)
    steps = [_step(walk, node) for node in scene.nodes]
    return (*steps, *map(_head, _shown(watch)[0]))


def _shape(watch: Watch, _scene: Scene, results: Sequence[Any | EchoMQError]) -> Shaped:
    walk = _walks.of(watch.bus)
    heads = [one for one in results if isinstance(one, dict)]
    rows = [one for one in heads if "trouble" in one or one["board"].there]
    at_ms = min((one["at_ms"] for one in rows if "board" in one), default=None)
    faults = [one for one in results if isinstance(one, EchoMQError)]
    listed, more = _shown(watch)
    context = {
        "rows": rows,
        "known": len(walk.names),
        "whole": walk.whole,
        "fault": str(faults[0]) if faults else "",
        "after": f"?after={to_path(listed[-1])}" if more else "",
        "paged": bool(watch.param("after")),
    }
    why = str(faults[0]) if faults else "" if walk.whole else "The bus is still being walked."
    return Shaped(context, at_ms=at_ms, complete=not faults and walk.whole, why=why)


BOARDS = Page(
    name="boards",
    title="Boards",
    reading="The score is the best total. One board a game, the best on top.",
    panels={"games": "echomq_admin/boards/games.html"},
    look=_look,
    shape=_shape,
    clean=_clean,
    of_queue=False,
)


@require_safe
def boards(request: HttpRequest, bus: str) -> HttpResponse:
    """Every game with a board."""
    return show(request, BOARDS, bus)
