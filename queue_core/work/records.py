"""The steps of serving a stream's consumer group, as plans (protocol part 7.4).

What a consumer is handed, in this order: its own records that it never acknowledged, once, page
by page, forward, so that one that always fails is met once and not for ever; each beat, what
anybody in the group left lying for a while; then new ones. A record that was handed out too often
is parked beside the stream (part 10, row 48).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from queue_core.errors import EchoMQError, InvalidError, ServerFault
from queue_core.keys import QueueKeys
from queue_core.names import as_bytes
from queue_core.numbers import whole
from queue_core.plans import Call, Plan
from queue_core.verbs import streams
from queue_core.verbs.streams import Entry
from queue_core.work.lookout import beats
from queue_core.work.presence import worker_id
from queue_core.work.verdicts import Dead, Done, Failed, Verdict

PAGE = 100
BEAT_MS = 1_000
IDLE_MS = 30_000
MAX_DELIVERIES = 5
DRAIN_S = 15.0
ACK_S = 0.1
"""The longest that what was dealt with waits to be acknowledged while a page is worked through."""

_fresh = itertools.count(1)

TOO_OFTEN = "handed out %d times and never acknowledged"


def fresh_consumer() -> bytes:
    """A name that no other consumer has, of this process or another."""
    return worker_id(f"{next(_fresh)}")


@dataclass(frozen=True, slots=True)
class Record:
    """A record as its handler sees it: its place in the stream, its branded id (None where a
    foreign writer gave none), its other fields in their order, and how often it was handed out
    by now, from 1."""

    place: bytes
    id: bytes | None
    fields: tuple[tuple[bytes, bytes], ...]
    deliveries: int


@dataclass(frozen=True, slots=True)
class Group:
    """Whose records are served, by whom, and when they are given up."""

    q: QueueKeys
    stream: bytes
    name: bytes
    consumer: bytes
    from_start: bool = False
    size: int = PAGE
    beat_ms: int = BEAT_MS
    idle_ms: int = IDLE_MS
    max_deliveries: int = MAX_DELIVERIES

    def __post_init__(self) -> None:
        """`InvalidError` for a number out of range."""
        whole(self.size, "a page of records", 1, streams.MOST_ENTRIES)
        for number in (self.beat_ms, self.idle_ms, self.max_deliveries):
            whole(number, "a beat, an idle time and a number of deliveries")

    def look(self) -> Call:
        """A read that costs nothing and whose change tells that the stream has changed."""
        return Call("XRANGE", (self.q.stream(self.stream),), ("+", "+", "COUNT", 1))


class Asking:
    """When new records are asked for: at once after a full page, where the server has told of a
    change, and every so often beside, `HEARD_BEATS` where it tells and each beat where it does
    not. Before a page that may be the last for now the stream is looked at, so that it tells."""

    def __init__(self, group: Group) -> None:
        self._size, self._beat_s = group.size, group.beat_ms / 1000
        self._full = False
        self._at = 0.0

    def due(self, now_s: float) -> bool:
        """Whether to ask now."""
        return self._full or now_s >= self._at

    @property
    def looks(self) -> bool:
        """Whether to look before it."""
        return not self._full

    def asked(self, now_s: float, found: int, tracks: bool) -> None:
        """So many came."""
        self._full = found >= self._size
        self._at = now_s + (0 if found else beats(tracks) * self._beat_s)

    def heard(self) -> None:
        """There may be more."""
        self._at = 0.0


class Pages:
    """What a consumer is handed, page after page. One for each run of a loop."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._opened = False
        self._from_start = group.from_start
        self._own: bytes | None = b"0"
        self._cursor = b"0-0"
        self._idle_at = 0.0

    def next(self, now_s: float, fresh: bool = True) -> Plan[list[Record]]:
        """The next page, empty where there is nothing to do now; `now_s` is of a monotonic clock.
        New records are only asked for where there may be some, `fresh`. A group or stream that is
        gone is made anew at the next call."""
        try:
            return (yield from self._next(now_s, fresh))
        except ServerFault as fault:
            if fault.code == "NOGROUP":
                self._opened, self._from_start = False, True
            raise

    def _next(self, now_s: float, fresh: bool) -> Plan[list[Record]]:
        group = self._group
        at = (group.q, group.stream, group.name)
        if not self._opened:
            yield from streams.group(*at, from_start=self._from_start)
            self._opened = True
        while self._own is not None:
            found = yield from streams.group_held(*at, group.consumer, group.size, self._own)
            records = yield from self._weighed(found)
            self._own = found[-1].place if found else None
            if records:
                return records
        if now_s >= self._idle_at:
            self._cursor, found = yield from streams.take_over(
                *at, group.consumer, group.idle_ms, self._cursor, group.size
            )
            if self._cursor == b"0-0":
                self._idle_at = now_s + group.beat_ms / 1000
            if records := (yield from self._weighed(found)):
                return records
        if not fresh:
            return []
        new = yield from streams.group_read(*at, group.consumer, group.size)
        return [_record(entry, 1) for entry in new]

    def _weighed(self, found: Sequence[Entry]) -> Plan[list[Record]]:
        """Those that may be handed out: what was trimmed meanwhile is let go, and what was handed
        out too often is parked."""
        group = self._group
        at = (group.q, group.stream, group.name)
        if not found:
            return []
        trimmed = [entry.place for entry in found if entry.id is None and not entry.fields]
        yield from streams.ack(*at, trimmed)
        places = [entry.place for entry in found if entry.place not in trimmed]
        times = yield from streams.deliveries(*at, group.consumer, places) if places else _none()
        records = []
        for entry in found:
            if (count := times.get(entry.place, 0)) > group.max_deliveries:
                reason = TOO_OFTEN % (count - 1)
                yield from streams.park(*at, group.consumer, entry.place, count - 1, reason)
            elif count:
                records.append(_record(entry, count))
        return records


def _none() -> Plan[dict[bytes, int]]:
    yield from ()
    return {}


def _record(entry: Entry, deliveries: int) -> Record:
    return Record(entry.place, entry.id, entry.fields, deliveries)


def settle(group: Group, ended: Sequence[tuple[Record, Verdict]]) -> Plan[list[Record]]:
    """Carry verdicts out: what is done is acknowledged; what is dead, or failed for the last time,
    is parked; other failures stay in the consumer's hands and come again once they are idle.
    Answers those that were parked."""
    at = (group.q, group.stream, group.name)
    yield from streams.ack(*at, [one.place for one, verdict in ended if type(verdict) is Done])
    parked = []
    for one, verdict in ended:
        last = isinstance(verdict, Failed) and one.deliveries >= group.max_deliveries
        if last or isinstance(verdict, Dead):
            reason = verdict.reason if isinstance(verdict, Failed | Dead) else ""
            yield from streams.park(*at, group.consumer, one.place, one.deliveries, reason)
            parked.append(one)
    return parked


def hold(group: Group, records: Sequence[Record]) -> Plan[set[bytes]]:
    """Keep what is in hand from being taken over as idle; the places of what was lost."""
    places = [one.place for one in records]
    lost = yield from streams.hold(group.q, group.stream, group.name, group.consumer, places)
    return set(lost)


@dataclass(frozen=True, slots=True)
class Keep:
    """How much of a stream is kept: its `last` records, those younger than `younger_ms` by the
    server's clock, or both; roughly, or `exact`. `InvalidError` where neither is given."""

    q: QueueKeys
    stream: bytes | str
    last: int | None = None
    younger_ms: int | None = None
    exact: bool = False

    def __post_init__(self) -> None:
        """Refuses a policy that says nothing."""
        if self.last is None and self.younger_ms is None:
            raise InvalidError("a retention keeps the last records, or the younger ones")

    def trim(self) -> Plan[int]:
        """Trim now; how many records went."""
        stream, removed = as_bytes(self.stream), 0
        if self.last is not None:
            removed += yield from streams.keep_last(self.q, stream, self.last, self.exact)
        if self.younger_ms is not None:
            removed += yield from streams.keep_younger(self.q, stream, self.younger_ms, self.exact)
        return removed


def trim_each(keeps: Sequence[Keep]) -> Plan[EchoMQError | None]:
    """Trim every stream, whatever befalls one; the first fault that was met."""
    first = None
    for keep in keeps:
        try:
            yield from keep.trim()
        except EchoMQError as fault:
            first = first or fault
    return first
