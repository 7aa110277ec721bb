"""Streams: records of one name in the order of their branded ids (protocol part 7.4).

A record's place is its own id: entry `<unix_ms>-<tail>`. One stream holds one namespace. A group
hands each record to one of its consumers, which acknowledges it; `queue_core.work.streams` has
loops that do.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from queue_core import ids
from queue_core.errors import EchoMQError, InvalidError
from queue_core.keys import QueueKeys
from queue_core.numbers import instant, whole
from queue_core.outcomes import Word
from queue_core.plans import Batch, Call, Plan, Reply
from queue_core.quoting import quoted
from queue_core.replies import word
from queue_core.scripts import script

NAMESPACE = "EVT"
MOST_FIELDS = 1000
"""Fields of one record: a script can hand on some thousands of words."""
MOST_ENTRIES = 1000
"""Records that one read answers."""
MOST_PARKED = 10_000
"""About how many records that were given up are kept beside a stream."""

Pairs = Sequence[tuple[bytes | str, bytes | str]]

_APPEND = script("stream_append")
_GROUP = script("stream_group")
_FORGET = script("stream_forget")
_HOLD = script("stream_hold")
_LEAVE = script("stream_leave")
_PARK = script("stream_park")
_READ_GROUP = script("stream_read_group")
_TRIM = script("stream_trim")


@dataclass(frozen=True, slots=True)
class Entry:
    """A record: its place in the stream, its branded id (None where a foreign writer gave none)
    and its other fields in their order."""

    place: bytes
    id: bytes | None
    fields: tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True, slots=True)
class Parked:
    """A record that a group gave up: where this note stands and since when (Unix ms), the group,
    how often it was handed out, why, and the record, without fields where it was trimmed."""

    note: bytes
    at_ms: int
    group: bytes
    deliveries: int
    reason: bytes
    record: Entry


def place_of(record_id: bytes | str, namespace: str = NAMESPACE) -> bytes:
    """The entry id of a record's branded id; `InvalidError` for another namespace."""
    identity = ids.decode(record_id)
    if identity.namespace != namespace:
        raise InvalidError(f"this stream holds {namespace} records, got {quoted(record_id)}")
    return b"%d-%d" % (identity.unix_ms, identity.value & ids.TAIL_MASK)


def append(
    q: QueueKeys, stream: bytes, record_id: bytes | str, fields: Pairs, namespace: str = NAMESPACE
) -> Plan[Word]:
    """Append one record. Answers `ok`, or `nonmonotonic` where the stream holds a younger one
    (nothing is written; mint another id and append again)."""
    return word((yield _append(q, stream, record_id, fields, namespace)))


def append_many(
    q: QueueKeys,
    stream: bytes,
    records: Iterable[tuple[bytes | str, Pairs]],
    namespace: str = NAMESPACE,
) -> Plan[list[Word | EchoMQError]]:
    """Append many records in one round trip, each by itself. Answers a verdict for each in
    order, a fault in its record's place (part 10, row 48)."""
    calls = [_append(q, stream, record_id, fields, namespace) for record_id, fields in records]
    if not calls:
        return []
    replies = yield Batch(tuple(calls))
    return [reply if isinstance(reply, EchoMQError) else word(reply) for reply in replies]


def read(
    q: QueueKeys, stream: bytes, size: int = 100, after: bytes | None = None
) -> Plan[list[Entry]]:
    """Up to `size` records, oldest first, from the start or after the place of one."""
    start = b"-" if after is None else b"(" + after
    return _entries((yield _range(q, stream, start, b"+", size)))


def read_window(
    q: QueueKeys, stream: bytes, from_ms: int, to_ms: int | None = None, size: int = 100
) -> Plan[list[Entry]]:
    """Up to `size` records minted from one Unix ms to another, both inside; `to_ms` None reads
    to the end."""
    stop = b"+" if to_ms is None else b"%d-%d" % (instant(to_ms), ids.TAIL_MASK)
    return _entries((yield _range(q, stream, b"%d-0" % instant(from_ms), stop, size)))


def keep_last(q: QueueKeys, stream: bytes, keep: int, exact: bool = False) -> Plan[int]:
    """Trim to the youngest `keep` records, roughly unless `exact`; answers how many went."""
    args = ("MAXLEN", "=" if exact else "~", whole(keep, "records to keep", 0))
    return int((yield Call("XTRIM", (q.stream(stream),), args)))


def keep_since(q: QueueKeys, stream: bytes, from_ms: int, exact: bool = False) -> Plan[int]:
    """Trim what was minted before a Unix ms, roughly unless `exact`; answers how many went."""
    args = ("MINID", "=" if exact else "~", b"%d-0" % instant(from_ms))
    return int((yield Call("XTRIM", (q.stream(stream),), args)))


def keep_younger(q: QueueKeys, stream: bytes, keep_ms: int, exact: bool = False) -> Plan[int]:
    """Trim what was minted over `keep_ms` ago by the server's clock, roughly unless `exact`;
    answers how many went."""
    args = (q.base, whole(keep_ms, "an age in ms"), "=" if exact else "~")
    return int((yield _TRIM.call((q.stream(stream),), *args))[1])


def group(q: QueueKeys, stream: bytes, name: bytes, from_start: bool = False) -> Plan[Word]:
    """Make a consumer group that gets what comes, or all that is there. `ok` or `exists`."""
    args = (q.base, name, "0" if from_start else "$")
    return word((yield _GROUP.call((q.stream(stream),), *args)))


def group_read(
    q: QueueKeys, stream: bytes, name: bytes, consumer: bytes, size: int = 100
) -> Plan[list[Entry]]:
    """Up to `size` records that the group has not handed out, now held by `consumer`."""
    return (yield from _read_group(q, stream, name, consumer, size, b">"))


def group_held(
    q: QueueKeys, stream: bytes, name: bytes, consumer: bytes, size: int = 100, after: bytes = b"0"
) -> Plan[list[Entry]]:
    """Records that `consumer` holds and has not acknowledged, after a place. Walk forward from
    the last: reading from the start again would meet a record that always fails for ever
    (part 10, row 48)."""
    return (yield from _read_group(q, stream, name, consumer, size, after))


def ack(q: QueueKeys, stream: bytes, name: bytes, places: Sequence[bytes]) -> Plan[int]:
    """Let go of records that were dealt with; answers how many were held."""
    if not places:
        return 0
    return int((yield Call("XACK", (q.stream(stream),), (name, *places))))


def take_over(
    q: QueueKeys,
    stream: bytes,
    name: bytes,
    consumer: bytes,
    idle_ms: int,
    cursor: bytes = b"0-0",
    size: int = 100,
) -> Plan[tuple[bytes, list[Entry]]]:
    """Records that others held for `idle_ms` or longer, now held by `consumer`, and the cursor to
    go on from (`0-0` when a pass is over)."""
    args = (name, consumer, whole(idle_ms, "an idle time in ms", 0), cursor, "COUNT", _most(size))
    reply = yield Call("XAUTOCLAIM", (q.stream(stream),), args)
    return reply[0], _entries(reply[1])


def deliveries(
    q: QueueKeys, stream: bytes, name: bytes, consumer: bytes, places: Sequence[bytes]
) -> Plan[dict[bytes, int]]:
    """How often each of these records was handed out, by place, as far as `consumer` holds them:
    what a handler caps to stop at a record that always fails. One round trip."""
    replies = yield Batch(
        tuple(
            Call("XPENDING", (q.stream(stream),), (name, place, place, 1, consumer))
            for place in places
        )
    )
    counts: dict[bytes, int] = {}
    for reply in replies:
        if isinstance(reply, EchoMQError):
            raise reply
        counts |= {place: int(times) for place, _, _, times in reply}
    return counts


def hold(
    q: QueueKeys, stream: bytes, name: bytes, consumer: bytes, places: Sequence[bytes]
) -> Plan[list[bytes]]:
    """Go on holding records, so that nobody takes them over as idle; answers the places of those
    that `consumer` holds no more."""
    reply = yield _HOLD.call((q.stream(stream),), q.base, name, consumer, *places)
    return list(reply[1:])


def park(
    q: QueueKeys,
    stream: bytes,
    name: bytes,
    consumer: bytes,
    place: bytes,
    times: int,
    reason: bytes | str,
) -> Plan[Word]:
    """Give a record up that was handed out so many `times`: it is kept beside the stream with the
    reason, and is acknowledged (part 10, row 48). Answers `ok`, or `gone` where `consumer` does
    not hold it. About `MOST_PARKED` are kept, the youngest."""
    keys = (q.stream(stream), q.parked(stream))
    args = (q.base, name, consumer, place, times, reason, MOST_PARKED)
    return word((yield _PARK.call(keys, *args)))


def parked(
    q: QueueKeys, stream: bytes, size: int = 100, after: bytes | None = None
) -> Plan[list[Parked]]:
    """Up to `size` records that groups gave up, the longest parked first, from the start or after
    a note."""
    start = b"-" if after is None else b"(" + after
    reply = yield Call("XRANGE", (q.parked(stream),), (start, b"+", "COUNT", _most(size)))
    found = []
    for note, flat in reply:
        said = dict(zip(flat[:8:2], flat[1:8:2], strict=True))
        (record,) = _entries([(said[b"py_place"], flat[8:])])
        at_ms, times = int(note.partition(b"-")[0]), int(said[b"py_deliveries"])
        found.append(Parked(note, at_ms, said[b"py_group"], times, said[b"py_reason"], record))
    return found


def forget_parked(q: QueueKeys, stream: bytes, notes: Sequence[bytes]) -> Plan[int]:
    """Forget records that were given up; answers how many there were."""
    if not notes:
        return 0
    return int((yield _FORGET.call((q.parked(stream),), q.base, *notes))[1])


def leave(q: QueueKeys, stream: bytes, name: bytes, consumer: bytes) -> Plan[Word]:
    """Forget a consumer that holds no records: `ok`, or `noop` where it holds some, which stay
    for others to take over."""
    return word((yield _LEAVE.call((q.stream(stream),), q.base, name, consumer)))


def archived(q: QueueKeys, stream: bytes) -> Plan[bytes | None]:
    """The last record that the archive holds, None where nothing is archived or known."""
    found: bytes | None = yield Call("GET", (q.archived(stream),))
    return found


def set_archived(q: QueueKeys, stream: bytes, record_id: bytes | str) -> Plan[None]:
    """Note how far the archive has come. A cache: the archive itself decides."""
    yield Call("SET", (q.archived(stream),), (ids.check(record_id),))


def clear_archived(q: QueueKeys, stream: bytes) -> Plan[bool]:
    """Forget the archive's mark; whether there was one."""
    return bool((yield Call("DEL", (q.archived(stream),))))


def _append(
    q: QueueKeys, stream: bytes, record_id: bytes | str, fields: Pairs, namespace: str
) -> Call:
    whole(len(fields), "fields of a record", 0, MOST_FIELDS)
    place = place_of(record_id, namespace)
    words = [part for pair in fields for part in pair]
    return _APPEND.call((q.stream(stream),), q.base, ids.check(record_id), place, *words)


def _range(q: QueueKeys, stream: bytes, start: bytes, stop: bytes, size: int) -> Call:
    return Call("XRANGE", (q.stream(stream),), (start, stop, "COUNT", _most(size)))


def _read_group(
    q: QueueKeys, stream: bytes, name: bytes, consumer: bytes, size: int, after: bytes
) -> Plan[list[Entry]]:
    args = (q.base, name, consumer, _most(size), after)
    reply = yield _READ_GROUP.call((q.stream(stream),), *args)
    return _entries(reply[1:])


def _most(size: int) -> int:
    return whole(size, "a page of records", 1, MOST_ENTRIES)


def _entries(reply: Reply) -> list[Entry]:
    """Records as they stand; one that was trimmed while it was held has no fields left."""
    found = []
    for place, flat in reply:
        fields = tuple(zip(flat[::2], flat[1::2], strict=True)) if flat else ()
        named = bool(fields) and fields[0][0] == b"id"
        found.append(Entry(place, fields[0][1] if named else None, fields[1:] if named else fields))
    return found
