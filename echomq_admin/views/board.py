"""One board with live ranks: who leads, who moved since the page opened, who is around a player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from echomq_admin.charts import board as chart
from echomq_admin.live.page import BadParameter, Page, Shaped, Watch, from_path, to_path
from echomq_admin.live.scene import Scene, no_right
from echomq_admin.views.listing import trouble
from echomq_admin.views.show import show
from queue_core.errors import EchoMQError
from queue_core.plans import Plan
from queue_core.reads import boards as read

TOPS = ("12", "50", "100")
LONG_NAME = 256
"""A player's name of more bytes is followed by nobody: its address would be too long."""


def _clean(raw: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    top = raw.get("top") or TOPS[0]
    if top not in TOPS:
        raise BadParameter("top is one of 12, 50, 100")
    player = _player(raw)
    return (("top", top), *((("player", player),) if player else ()))


def _player(raw: Mapping[str, str]) -> str:
    """The player to follow: a name as in a path, or typed into the field as text."""
    if typed := raw.get("find", ""):
        return to_path(typed.encode()[:LONG_NAME])
    text = raw.get("player", "")
    return to_path(from_path(text)[:LONG_NAME]) if text else ""


def _followed(watch: Watch) -> bytes:
    text = watch.param("player")
    return from_path(text) if text else b""


def _look(watch: Watch, _scene: Scene) -> Sequence[Plan[Any]]:
    top = int(watch.param("top", TOPS[0]))
    return (
        read.board(watch.item, top, _followed(watch)),
        read.game_facts(watch.item),
    )


def _shape(watch: Watch, scene: Scene, results: Sequence[Any | EchoMQError]) -> Shaped:
    seen, game = results
    follow = _followed(watch)
    context: dict[str, Any] = {
        "game": watch.item,
        "facts": None if isinstance(game, EchoMQError) else game,
        "follow": follow,
        "tops": [(top, watch.param("top", TOPS[0]) == top) for top in TOPS],
        "kept": f"&player={to_path(follow)}" if follow else "",
        "top": watch.param("top", TOPS[0]),
    }
    if isinstance(seen, EchoMQError):
        return Shaped({**context, "trouble": trouble(seen)}, complete=False, why=str(seen))
    board = seen.value
    context |= {
        "board": board,
        "places": chart.places(board.top),
        "around": chart.places(board.around),
        "long_name": LONG_NAME,
        "no_writes": scene.no_writes(b"") or no_right(board.refused),
    }
    data = {"ranks": chart.series(board.top, follow)} if board.there else {}
    return Shaped(context, data, at_ms=seen.at_ms)


BOARD = Page(
    name="board",
    title="Board",
    reading="The score is the best total. Equal scores stand in reverse byte order of the id.",
    panels={
        "game-state": "echomq_admin/board/state.html",
        "board-panel": "echomq_admin/board/ranks.html",
        "around": "echomq_admin/board/around.html",
    },
    look=_look,
    shape=_shape,
    clean=_clean,
    of_queue=False,
)


@require_safe
def board(request: HttpRequest, bus: str, item: bytes) -> HttpResponse:
    """The board of one game."""
    return show(request, BOARD, bus, item=item)
