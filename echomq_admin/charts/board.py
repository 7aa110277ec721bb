"""A board as rows: bars, gaps to the next score, and brackets around equal ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from echomq_admin.live.page import to_path
from echomq_admin.templatetags.payload import preview
from queue_core.reads.boards import Standing

BAR = 56
FULL = 600
"""The best total a game allows (protocol part 8.3); a board beyond it is its own measure."""


@dataclass(frozen=True, slots=True)
class Place:
    """A row: `tie` says where in a bracket of equal scores it stands (a first, m within, z last,
    empty alone); `gap` is how far below the next better score it is, as text."""

    standing: Standing
    bar: float
    tie: str
    gap: str


def _gap(better: Standing | None, this: Standing) -> str:
    if better is None:
        return ""
    if float(better.held) == float(this.held):
        return "equal"
    above, below = Decimal(better.held), Decimal(this.held)
    if not (above.is_finite() and below.is_finite()):
        return ""
    return f"−{above - below:f}"  # noqa: RUF001


def _tie(before: Standing | None, this: Standing, after: Standing | None) -> str:
    joined_above = before is not None and before.rank == this.rank
    joined_below = after is not None and after.rank == this.rank
    if joined_above:
        return "m" if joined_below else "z"
    return "a" if joined_below else ""


def places(standings: Sequence[Standing]) -> list[Place]:
    """Standings in board order as rows."""
    full = max([FULL, *(float(one.held) for one in standings if float(one.held) < float("inf"))])
    around = [None, *standings, None]
    found = []
    for before, this, after in zip(around, standings, around[2:], strict=False):
        part = min(1.0, max(0.0, float(this.held) / full))
        found.append(
            Place(this, round(BAR * part, 1), _tie(before, this, after), _gap(before, this))
        )
    return found


def series(standings: Sequence[Standing], player: bytes) -> dict[str, Any]:
    """The chart's players in board order: `[key, rank, score, name]`; `follow` is a key."""
    return {
        "players": [
            [to_path(one.player), one.rank, one.score, preview(one.player, 20)] for one in standings
        ],
        "follow": to_path(player) if player else "",
    }
