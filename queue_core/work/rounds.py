"""The rounds of a metronome (protocol part 6.3), without I/O: both loops drive this.

Its hands are the registry of the idle: one that has ended its job is idle again, and they are all
alike, so that their number is enough. In each round every idle hand is promised one job of a queue
that may have some, the queue that waited longest for a hand first; what was promised and what has
ended go out in one pipeline. As long as a queue gives as many jobs as it was asked for, it is asked
again in the next round, by whoever is idle then, so that a standing backlog waits for no wake and
no beat (part 10, row 18).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, TypeAlias

from queue_core.errors import InvalidError
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys, queue
from queue_core.numbers import whole
from queue_core.plans import Plan
from queue_core.work.hands import Handler, Hands, InHand
from queue_core.work.ledger import Ledger
from queue_core.work.lookout import HEARD_BEATS, Lookout
from queue_core.work.serving import Policy
from queue_core.work.task import Attempt
from queue_core.work.task_hands import AsyncHandler, is_awaited
from queue_core.work.turns import Want

WORKERS = 4
"""Jobs of all queues that a metronome has handled at once."""


Handlers: TypeAlias = (
    Mapping[str, Handler]
    | Mapping[bytes, Handler]
    | Mapping[str, AsyncHandler]
    | Mapping[bytes, AsyncHandler]
)
"""A handler for each queue's name."""

Tasks: TypeAlias = Callable[[QueueKeys], Callable[[Lease], Attempt]]
"""What makes tasks of the leases of a queue."""

Turns: TypeAlias = list[Plan[int | None]]


class Share(Hands):
    """The hands of a metronome as the ledger of one of its queues sees them: only its own jobs."""

    def __init__(self, hands: Hands, size: int) -> None:
        super().__init__(_nothing, size, None, _nothing)
        self._hands = hands
        self._back: list[InHand] = []

    def start(self) -> None:
        """The metronome starts them."""

    def end(self) -> None:
        """The metronome ends them."""

    @property
    def unbegun(self) -> bool:
        """Only what was taken back: jobs are taken for hands that are idle."""
        return bool(self._back)

    def give(self, one: InHand) -> None:
        """Have a job handled as soon as there is a place."""
        self.out += 1
        self._hands.give(one)

    def take_back(self) -> list[InHand]:
        """What no handler has begun."""
        back, self._back = self._back, []
        return back

    def lay(self, one: InHand) -> None:
        """One of its jobs has ended."""
        self._lay(one, True, True)

    def lay_back(self, one: InHand) -> None:
        """One of its jobs was not begun."""
        self.out -= 1
        self._back.append(one)


def _nothing(*_: Any) -> None:
    """Nobody is told, and nobody handles: the metronome's own hands do both."""


class Station(Lookout):
    """One queue of a metronome, the one at `place`: what it has in hand, and when it is asked.
    The second looks of many queues fall on several beats, since while they are made nothing else
    is heard of."""

    def __init__(
        self,
        place: int,
        q: QueueKeys,
        share: Share,
        ledger: Ledger,
        most: int,
        lease_ms: int,
        beat_s: float,
        weighted: bool,
    ) -> None:
        super().__init__(q, beat_s, early=place % HEARD_BEATS)
        self.place = place
        self.q = q
        self.ledger = ledger
        self.share = share
        self.not_before = 0.0
        self.served = 0
        self._most = most
        self._lease_ms = lease_ms
        self._weighted = weighted

    @property
    def room(self) -> int:
        """Jobs of it that may be in hand beside those that are."""
        return self._most - self.share.out

    def asks(self, now: float) -> bool:
        """Whether it would take idle hands now."""
        return not self.rests(now) and self.room > 0 and now >= self.not_before

    def settles(self, now: float) -> bool:
        """Whether it has something to settle now."""
        return bool(self.ledger.unsettled) and now >= self.not_before

    def rests_until(self, now: float, idle: bool) -> float | None:
        """When it is to be looked after, unless something is heard; None where only a handler's
        end could change anything."""
        if now < self.not_before:
            return self.not_before
        return self.look_at if idle and self.room > 0 and self.dry else None

    def want(self, size: int, worker: bytes) -> Want | None:
        """A claim for so many idle hands, if any."""
        if not size:
            return None
        return Want(size, size, self._lease_ms, worker, self.ledger.turns, self._weighted)

    def held_off(self, until: float) -> None:
        """The bus could not serve it: not before then again."""
        self.failed()
        self.not_before = until


def deal(idle: int, stations: Sequence[Station], places: Iterator[int]) -> dict[Station, int]:
    """Idle hands dealt out one by one to the stations that ask, the one that waited longest for
    one first; how many each gets. `places` counts on from deal to deal."""
    asking = sorted(stations, key=lambda station: station.served)
    dealt: dict[Station, int] = {}
    while idle > 0 and asking:
        for station in asking[:idle]:
            dealt[station] = dealt.get(station, 0) + 1
            station.served = next(places)
        idle -= len(asking[:idle])
        asking = [station for station in asking if dealt.get(station, 0) < station.room]
    return dealt


class Rounds:
    """The stations of a metronome and the hands that they share, `size` of them."""

    def __init__(
        self,
        names: Sequence[bytes],
        hands: Hands,
        size: int,
        worker: bytes,
        *,
        most: int | None,
        lease_ms: int,
        beat_ms: int,
        policy: Policy,
        weighted: bool,
    ) -> None:
        room = whole(size if most is None else most, "jobs of one queue at once", 1, size)
        self._beat_s = whole(beat_ms, "a beat in ms") / 1000
        self.stations: list[Station] = []
        for place, name in enumerate(names):
            q, share = queue(name), Share(hands, room)
            ledger = Ledger(
                q, worker, share, concurrency=room, lease_ms=lease_ms, policy=policy, ahead=0,
                weighted=weighted,
            )  # fmt: skip
            self.stations.append(
                Station(place, q, share, ledger, room, lease_ms, self._beat_s, weighted)
            )
        self.ledgers = [station.ledger for station in self.stations]
        self._by_name = {station.q.name: station for station in self.stations}
        self._hands = hands
        self._size = size
        self._worker = worker
        self._places = count(1)

    def collect(self) -> None:
        """Let each queue have what has ended of its own."""
        for one in self._hands.ended():
            self._by_name[one.task.queue].share.lay(one)

    def take_back(self) -> None:
        """Let each queue have what was not begun of its own."""
        for one in self._hands.take_back():
            self._by_name[one.task.queue].share.lay_back(one)

    def promise(self, now: float, quiet: bool) -> dict[Station, int]:
        """Promise the idle hands to queues that may have work: how many each gets."""
        idle = 0 if quiet else self._size - self._hands.out
        return deal(idle, [one for one in self.stations if one.asks(now)], self._places)

    def plans(self, going: Sequence[Station], wants: Mapping[Station, int], tasks: Tasks) -> Turns:
        """A round: the turns of those that settle or claim."""
        return [
            one.ledger.turn(one.want(wants.get(one, 0), self._worker), tasks(one.q))
            for one in going
        ]

    def rest(self, now: float, quiet: bool) -> tuple[float, set[Ledger]]:
        """How many seconds to rest where nothing is heard, and whose watches hear of new work."""
        idle = not quiet and self._hands.out < self._size
        whens = [one.rests_until(now, idle) for one in self.stations]
        soonest = min((at for at in whens if at is not None), default=now + self._beat_s)
        return max(0.0, soonest - now), {one.ledger for one in self.stations if one.dry}

    def hear(self, ledger: Ledger) -> None:
        """Something of a queue has changed."""
        self._by_name[ledger.q.name].hear()


def named(handlers: Mapping[Any, Callable[..., Any]]) -> tuple[dict[bytes, Any], bool]:
    """Handlers by the names of their queues as bytes, and whether they are awaited. `InvalidError`
    for none, for a name that is no queue's, for what is no function, and where some are awaited
    and others not."""
    if not isinstance(handlers, Mapping) or not handlers:
        raise InvalidError("a metronome serves at least one queue: a mapping of names to handlers")
    if any(not callable(handler) for handler in handlers.values()):
        raise InvalidError("a metronome's handlers are functions")
    kinds = {is_awaited(handler) for handler in handlers.values()}
    if len(kinds) > 1:
        raise InvalidError("a metronome's handlers are all coroutine functions, or none is")
    return {queue(name).name: handler for name, handler in handlers.items()}, kinds.pop()
