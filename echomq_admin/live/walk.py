"""A slow walk through the whole bus, one step a look, for what no key lists."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

KEPT = 64
"""Walks kept at a time; the one looked at longest ago goes first."""

MOST = 1_000
"""Names kept of one walk."""


class Walk:
    """Where each primary's scan stands, and what it met. What a pass found stands until the next
    pass has seen the whole bus; a name that is gone is then forgotten."""

    def __init__(self) -> None:
        self._cursors: dict[str | None, bytes] = {}
        self._met: dict[str | None, set[bytes]] = {}
        self._known: dict[str | None, frozenset[bytes]] = {}

    def cursor(self, node: str | None = None) -> bytes:
        """Where to go on at a primary."""
        return self._cursors.get(node, b"0")

    def take(self, cursor: bytes, names: Iterable[bytes], node: str | None = None) -> None:
        """Note a step: the names it met, and that a pass is over where the cursor is 0 again."""
        met = self._met.setdefault(node, set())
        met.update(name for name in names if len(met) < MOST)
        self._cursors[node] = cursor
        if cursor == b"0":
            self._known[node], self._met[node] = frozenset(met), set()

    @property
    def whole(self) -> bool:
        """Whether every primary has been walked through once."""
        return bool(self._cursors) and self._known.keys() >= self._cursors.keys()

    @property
    def names(self) -> list[bytes]:
        """Every name met, in byte order."""
        return sorted(set().union(*self._known.values(), *self._met.values()))


class Walks:
    """The walks of a page by what they look for, bounded in number."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, bytes], Walk] = OrderedDict()

    def of(self, bus: str, what: bytes = b"") -> Walk:
        """The walk of one bus after one thing."""
        walk = self._kept.setdefault((bus, what), Walk())
        self._kept.move_to_end((bus, what))
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return walk
