"""The verbs of streams and their groups, in the same shape as the other verbs."""

from __future__ import annotations

from random import Random
from typing import Any

from queue_core import ids
from queue_core.keys import QueueKeys
from queue_core.plans import Plan
from queue_core.verbs import streams
from queue_core.verbs.streams import Entry
from tests.proof.beside import Place, Stream, shown
from tests.proof.verbs import HOUR
from tests.proof.world import World, verb

MS = 1_740_830_400_000
PLACES: list[Place] = [(MS + at, tail) for at in range(5) for tail in (0, ids.TAIL_MASK)]
STREAMS = [b"audit"]
CREWS = [b"mail", b"sums"]
CONSUMERS = [b"c1", b"c2"]
AGES_MS = 10**13


def _id(place: Place) -> bytes:
    return ids.encode("EVT", ids.min_for(place[0]) + place[1])


def _pick(w: World, hand: Random) -> tuple[QueueKeys, bytes, Stream]:
    q, _ = w.pick(hand)
    name = hand.choice(STREAMS)
    return q, name, w.streams[q.name].setdefault(name, Stream())


def _crew(w: World, hand: Random) -> tuple[tuple[QueueKeys, bytes, bytes], Stream, bytes]:
    """Where a group is, made where there is none, its stream, and one of its consumers."""
    q, name, stream = _pick(w, hand)
    crew = hand.choice(CREWS)
    if crew not in stream.groups:
        _make(w, hand, (q, name, crew), stream)
    return (q, name, crew), stream, hand.choice(CONSUMERS)


def _make(w: World, hand: Random, at: tuple[QueueKeys, bytes, bytes], stream: Stream) -> None:
    from_start = hand.random() < 0.5
    expected = stream.make_group(at[2], from_start)
    w.do(f"stream_group {at[1:]} {from_start}", streams.group(*at, from_start), expected)


def _entries(stream: Stream, places: list[Place]) -> list[Entry]:
    found = []
    for place in places:
        fields = stream.entries.get(place, ())
        pairs = tuple(zip(fields[2::2], fields[3::2], strict=True))
        found.append(Entry(shown(place), fields[1] if fields else None, pairs))
    return found


def _fields(hand: Random, place: Place) -> tuple[list[tuple[bytes, bytes]], tuple[bytes, ...]]:
    """What is sent, and the words that stand in the stream."""
    pairs = hand.choice([[], [(b"k", b"\0\xff")], [(b"a", b"1"), (b"a", b"2")]])
    return pairs, (b"id", _id(place), *(word for pair in pairs for word in pair))


@verb(2)
def stream_append(w: World, hand: Random) -> None:
    q, name, stream = _pick(w, hand)
    place = _next(hand, stream)
    pairs, words = _fields(hand, place)
    plan = streams.append(q, name, _id(place), pairs)
    w.do(f"stream_append {q.name!r} {name!r} {place}", plan, stream.append(place, words))


def _next(hand: Random, stream: Stream) -> Place:
    """A place a little beyond the top, so that a stream goes on however long it lives, or one
    that may be taken."""
    if hand.random() < 0.3:
        return hand.choice(PLACES)
    ms = max(stream.top[0], MS)
    near = stream.top[1] < ids.TAIL_MASK and hand.random() < 0.3
    return (ms, stream.top[1] + 1) if near else (ms + 1, 0)


@verb(1)
def stream_append_many(w: World, hand: Random) -> None:
    q, name, stream = _pick(w, hand)
    places = [_next(hand, stream) for _ in range(hand.randint(0, 3))]
    told = [_fields(hand, place) for place in places]
    records = [(_id(place), pairs) for place, (pairs, _) in zip(places, told, strict=True)]
    expected = [stream.append(place, words) for place, (_, words) in zip(places, told, strict=True)]
    w.do(f"stream_append_many {name!r} {places}", streams.append_many(q, name, records), expected)


@verb(2)
def stream_read(w: World, hand: Random) -> None:
    q, name, stream = _pick(w, hand)
    size, after = hand.choice([1, 2, 100]), hand.choice([None, *PLACES, stream.top])
    low = (0, 0) if after is None else (after[0], after[1] + 1)
    expected = _entries(stream, stream.between(low, (AGES_MS, 0), size))
    plan = streams.read(q, name, size, None if after is None else shown(after))
    w.do(f"stream_read {name!r} {size} {after}", plan, expected)


@verb(1)
def stream_window(w: World, hand: Random) -> None:
    q, name, stream = _pick(w, hand)
    low, high = MS + hand.randint(0, 5), hand.choice([None, MS + 2, MS + 9])
    end = (AGES_MS, 0) if high is None else (high, ids.TAIL_MASK)
    expected = _entries(stream, stream.between((low, 0), end, 100))
    w.do(f"stream_window {low} {high}", streams.read_window(q, name, low, high), expected)


@verb(1)
def stream_trim(w: World, hand: Random) -> None:
    q, name, stream = _pick(w, hand)
    way, there = hand.choice(["last", "since", "younger"]), sorted(stream.entries)
    if way == "last":
        keep = hand.randint(0, 4)
        plan, kept = streams.keep_last(q, name, keep, exact=True), there[len(there) - keep :]
        kept = there[-keep:] if keep else []
    elif way == "since":
        floor = max(stream.top[0], MS) - hand.randint(0, 2)
        plan = streams.keep_since(q, name, floor, exact=True)
        kept = [place for place in there if place >= (floor, 0)]
    else:
        keep = hand.choice([1, AGES_MS])
        plan = streams.keep_younger(q, name, keep, exact=True)
        kept = there if keep == AGES_MS else []
    w.do(f"stream_trim {q.name!r} {name!r} {way} to {kept}", plan, stream.trim(kept))


@verb(1)
def stream_group(w: World, hand: Random) -> None:
    q, name, stream = _pick(w, hand)
    _make(w, hand, (q, name, hand.choice(CREWS)), stream)


@verb(2)
def group_read(w: World, hand: Random) -> None:
    at, stream, consumer = _crew(w, hand)
    size = hand.choice([1, 2, 100])
    expected = _entries(stream, stream.hand_out(at[2], consumer, size))
    w.do(
        f"group_read {at[1:]} {consumer!r} {size}",
        streams.group_read(*at, consumer, size),
        expected,
    )


@verb(2)
def group_held(w: World, hand: Random) -> None:
    at, stream, consumer = _crew(w, hand)
    size, after = hand.choice([1, 100]), hand.choice([(0, 0), (MS, 0), stream.top])
    expected = _entries(stream, stream.hand_again(at[2], consumer, size, after))
    plan = streams.group_held(*at, consumer, size, shown(after))
    w.do(f"group_held {at[1:]} {consumer!r} {size} {after}", plan, expected)


def _some(hand: Random, stream: Stream, crew: bytes) -> list[Place]:
    """Places that are held, and others."""
    held = sorted(stream.groups[crew].held)
    some = hand.sample(held, min(len(held), hand.randint(1, 3)))
    return some if some and hand.random() < 0.8 else [*some, hand.choice(PLACES)]


@verb(2)
def stream_ack(w: World, hand: Random) -> None:
    at, stream, _ = _crew(w, hand)
    places = _some(hand, stream, at[2])
    plan = streams.ack(*at, [shown(place) for place in places])
    w.do(f"stream_ack {at[1:]} {places}", plan, stream.ack(at[2], places))


@verb(1)
def take_over(w: World, hand: Random) -> None:
    at, stream, consumer = _crew(w, hand)
    idle_ms = hand.choice([0, HOUR])
    # Nothing lies idle for an hour; what was trimmed is let go all the same.
    if idle_ms:
        crew = stream.groups[at[2]]
        crew.held = {p: one for p, one in crew.held.items() if p in stream.entries}
    places = [] if idle_ms else stream.take_over(at[2], consumer)
    plan = streams.take_over(*at, consumer, idle_ms, size=1000)
    expected = (b"0-0", _entries(stream, places))
    w.do(f"take_over {at[1:]} {consumer!r} {idle_ms}", plan, expected)


@verb(1)
def stream_hold(w: World, hand: Random) -> None:
    at, stream, consumer = _crew(w, hand)
    places = list(dict.fromkeys(_some(hand, stream, at[2])))
    expected = [shown(place) for place in stream.hold(at[2], consumer, places)]
    plan = streams.hold(*at, consumer, [shown(place) for place in places])
    w.do(f"stream_hold {at[1:]} {consumer!r} {places}", plan, expected)


@verb(1)
def deliveries(w: World, hand: Random) -> None:
    at, stream, consumer = _crew(w, hand)
    places = _some(hand, stream, at[2])
    held = stream.groups[at[2]].held
    expected = {
        shown(place): held[place][1]
        for place in places
        if place in held and held[place][0] == consumer
    }
    plan = streams.deliveries(*at, consumer, [shown(place) for place in places])
    w.do(f"deliveries {at[1:]} {consumer!r} {places}", plan, expected)


@verb(2)
def stream_park(w: World, hand: Random) -> None:
    at, stream, consumer = _crew(w, hand)
    place, times = hand.choice(_some(hand, stream, at[2])), hand.randint(1, 5)
    expected = stream.park(at[2], consumer, place, times, b"why\0")
    plan = streams.park(*at, consumer, shown(place), times, b"why\0")
    w.do(f"stream_park {at[1:]} {consumer!r} {place}", plan, expected)


@verb(1)
def read_parked(w: World, hand: Random) -> None:
    q, name, stream = _pick(w, hand)
    expected = [(one[1], one[3], int(one[5]), one[7]) for one in stream.parked[:2]]
    plan = streams.parked(q, name, 2)
    w.do(f"parked {name!r}", plan, expected, lambda found: [_seen(one) for one in found])


def _seen(one: streams.Parked) -> tuple[Any, ...]:
    return one.record.place, one.group, one.deliveries, one.reason


@verb(1)
def forget_parked(w: World, hand: Random) -> None:
    q, name, stream = _pick(w, hand)
    expected, stream.parked = len(stream.parked[:2]), stream.parked[2:]
    w.do(f"forget_parked {name!r}", _forget(q, name), expected, alone=True)


def _forget(q: QueueKeys, name: bytes) -> Plan[int]:
    found = yield from streams.parked(q, name, 2)
    return (yield from streams.forget_parked(q, name, [one.note for one in found]))


@verb(1)
def stream_leave(w: World, hand: Random) -> None:
    at, stream, consumer = _crew(w, hand)
    expected = "noop" if stream.groups[at[2]].of(consumer) else "ok"
    plan = streams.leave(*at, consumer)
    w.do(f"stream_leave {at[1:]} {consumer!r}", plan, expected)


@verb(1)
def archive(w: World, hand: Random) -> None:
    q, name, stream = _pick(w, hand)
    w.do(f"archived {name!r}", streams.archived(q, name), stream.mark)
    if hand.random() < 0.5:
        stream.mark = _id(hand.choice(PLACES))
        w.do(f"set_archived {name!r}", streams.set_archived(q, name, stream.mark), None)
    else:
        had, stream.mark = stream.mark is not None, None
        w.do(f"clear_archived {name!r}", streams.clear_archived(q, name), had)
