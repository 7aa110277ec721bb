"""The ring and the lanes beside it: whose turn comes next, and why a lane has none.

Bounded by `LANE_WINDOW` lanes however many there are; what was left out is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from queue_core import ids
from queue_core.keys import QueueKeys
from queue_core.plans import Plan, Reply
from queue_core.reads.snapshot import Snapshot
from queue_core.scripts import script

LANE_WINDOW = 200
"""Lanes looked at: five reads each, some 0.5 ms of script at most."""

_LANES = script("reads/lanes")


class Siding(Enum):
    """Why a lane is out of the ring."""

    paused = "paused"
    at_limit = "at limit"
    idle = "nothing waits"
    left_out = "not offered"
    unknown = "unknown"


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane. `turn` is its place in the ring from 0, None outside. Numbers are None where
    absent or unreadable: no `limit` is no ceiling, no `weight` is 1. `oldest_ms` is the mint time
    of its oldest job, by the id."""

    name: bytes
    turn: int | None
    depth: int | None
    in_flight: int
    limit: int | None
    weight: int | None
    parked: bool
    oldest: bytes | None

    @property
    def oldest_ms(self) -> int | None:
        """When the job at its head was minted; None where its id tells no time."""
        if self.oldest is None or not ids.is_id(self.oldest):
            return None
        return ids.decode(self.oldest).unix_ms

    @property
    def takes(self) -> int:
        """How many jobs a weighted claim takes at its turn, before headroom."""
        return max(1, self.weight or 1)

    @property
    def full(self) -> bool:
        """Whether it runs as many as it may."""
        return self.limit is not None and self.in_flight >= self.limit

    @property
    def siding(self) -> Siding | None:
        """Why it has no turn; None while it is in the ring. `left_out` is a lane with work that
        may be served and was never offered."""
        if self.turn is not None:
            return None
        if self.parked:
            return Siding.paused
        if self.depth is None:
            return Siding.unknown
        if self.depth == 0:
            return Siding.idle
        return Siding.at_limit if self.full else Siding.left_out


@dataclass(frozen=True, slots=True)
class Ring:
    """`turns` are the lanes in the ring, the next turn first; `aside` the others that were found,
    those with waiting jobs first. `in_ring` and `known` count without a bound, `known` from below
    (lanes named by several keys count once where they were read)."""

    turns: tuple[Lane, ...]
    aside: tuple[Lane, ...]
    in_ring: int
    paused: int
    limited: int
    queue_paused: bool

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """Every lane that was looked at."""
        return self.turns + self.aside

    @property
    def known(self) -> int:
        """Lanes known to exist, at least."""
        return max(len(self.lanes), self.in_ring, self.limited, self.paused)

    @property
    def waiting_jobs(self) -> int:
        """Jobs in the lanes that were looked at."""
        return sum(lane.depth or 0 for lane in self.lanes)

    def named(self, name: bytes) -> Lane | None:
        """The lane of this name, where it was looked at."""
        return next((lane for lane in self.lanes if lane.name == name), None)


def _number(raw: bytes | None) -> int | None:
    try:
        return int(raw) if raw is not None else None
    except ValueError:
        return None


def _lane(raw: Reply) -> Lane:
    name, turn, depth, busy, limit, weight, parked, oldest = raw
    return Lane(
        name=name,
        turn=turn if turn >= 0 else None,
        depth=depth,
        in_flight=max(0, _number(busy) or 0),
        limit=_number(limit),
        weight=_number(weight),
        parked=bool(parked),
        oldest=oldest,
    )


def ring(q: QueueKeys, focus: bytes = b"", window: int = LANE_WINDOW) -> Plan[Snapshot[Ring]]:
    """The lanes of a queue in one round trip; `focus` is looked at wherever it stands."""
    now, sizes, whole, paused, raw = yield _LANES.call(
        (q.ring, q.paused, q.glimit, q.gactive, q.gweight, q.meta), q.base, window, focus
    )
    lanes = [_lane(one) for one in raw]
    turns = sorted(
        (lane for lane in lanes if lane.turn is not None), key=lambda lane: lane.turn or 0
    )
    aside = sorted(
        (lane for lane in lanes if lane.turn is None),
        key=lambda lane: (-(lane.depth or 0), -lane.in_flight, lane.name),
    )
    value = Ring(tuple(turns), tuple(aside), sizes[0], sizes[1], sizes[2], bool(paused))
    why = "" if whole else f"{len(lanes)} of at least {value.known} lanes were looked at."
    return Snapshot(value, now, complete=bool(whole), why=why)
