"""Streams and their branded places (scenarios 74 to 79)."""

from typing import Any

from queue_core import ids
from queue_core.conformance.stage import Chapter, Stage, first_step
from queue_core.errors import InvalidError
from queue_core.outcomes import Word
from queue_core.plans import Call
from queue_core.verbs import streams

chapter = Chapter()

LOG = b"log"
FLOOR_MS = 1_740_830_400_500
"""2025-03-01T12:00:00.500Z."""

TAIL = ids.TAIL_MASK


def _append(s: Stage, record_id: bytes, text: bytes = b"x") -> Word:
    return s.run(streams.append(s.q, LOG, record_id, [(b"said", text)]))


def _appended(s: Stage, count: int) -> list[bytes]:
    records = [s.mint("EVT") for _ in range(count)]
    words = {_append(s, record_id) for record_id in records}
    s.expect("append", words, {Word.ok})
    return records


def _at(unix_ms: int, tail: int = 0) -> bytes:
    """The record id minted at that moment with that tail."""
    return ids.encode("EVT", ids.min_for(unix_ms) + tail)


def _read(s: Stage) -> list[bytes | None]:
    return [entry.id for entry in s.run(streams.read(s.q, LOG))]


@chapter.scenario(74)
def stream_verbs(s: Stage) -> None:
    """Stream commands serve on a connection that is subscribed, a push comes beside them."""
    key, channel = s.q.stream(b"raw"), s.q.base + b"chan"
    line = s.line(channel)
    asked = [
        ("XADD", key, "1-1", "id", "a"),
        ("XADD", key, "1-2", "id", "b"),
        ("XRANGE", key, "-", "+"),
        ("XGROUP", "CREATE", key, "g", "0"),
    ]
    first, second = [b"1-1", [b"id", b"a"]], [b"1-2", [b"id", b"b"]]
    s.expect("replies in order", line.ask(*asked), [b"1-1", b"1-2", [first, second], b"OK"])
    s.run(_publish(channel, b"beside"))
    read = line.ask(("XREADGROUP", "GROUP", "g", "one", "COUNT", 10, "STREAMS", key, ">"))[0]
    s.expect("group read", read, [key, [first, second]])
    s.expect("ack", line.ask(("XACK", key, "g", "1-1")), [1])
    claimed = line.ask(("XAUTOCLAIM", key, "g", "two", 0, "0-0"))[0]
    s.expect("auto-claim", claimed[1], [second])
    s.expect("pushed", line.heard(), [b"beside"])


def _publish(channel: bytes, text: bytes) -> Any:
    return (yield Call("PUBLISH", (channel,), (text,)))


@chapter.scenario(75)
def stream_append(s: Stage) -> None:
    """Records stand in the order of their ids, of one brand, each younger than the last."""
    records = _appended(s, 5)
    s.expect("read", _read(s), records)
    s.expect("sorted", sorted(records), records)
    other = b"other"
    refused = s.mint("ORD")
    try:
        s.expect("an ORD id", s.run(streams.append(s.q, other, refused, [])), "InvalidError")
    except InvalidError:
        s.expect("the other stream", s.exists(s.q.stream(other)), False)
    older, newer = s.mint("EVT"), s.mint("EVT")
    words = [s.run(streams.append(s.q, other, record_id, [])) for record_id in (newer, older)]
    s.expect("newer, then older", words, [Word.ok, Word.nonmonotonic])
    s.expect("length", s.ask("XLEN", s.q.stream(other)), 1)


@chapter.scenario(76)
def stream_group(s: Stage) -> None:
    """What one reader did not acknowledge another takes over."""
    records = _appended(s, 2)
    s.expect("group", s.run(streams.group(s.q, LOG, b"g", from_start=True)), Word.ok)
    read = s.run(streams.group_read(s.q, LOG, b"g", b"c1"))
    s.expect("read", [entry.id for entry in read], records)
    s.expect("ack", s.run(streams.ack(s.q, LOG, b"g", [read[0].place])), 1)
    _, taken = s.run(streams.take_over(s.q, LOG, b"g", b"c2", 0))
    s.expect("taken over", [entry.id for entry in taken], records[1:])


@chapter.scenario(77)
def stream_retention(s: Stage) -> None:
    """A stream is cut to a number of records or at an instant."""
    records = _appended(s, 6)
    s.expect("removed", s.run(streams.keep_last(s.q, LOG, 2, exact=True)), 4)
    s.expect("left", _read(s), records[4:])
    timed = b"timed"
    made = [_at(FLOOR_MS + ms) for ms in (-3, -2, -1, 0, 1, 2)]
    for record_id in made:
        s.expect("append", s.run(streams.append(s.q, timed, record_id, [])), Word.ok)
    s.expect("removed", s.run(streams.keep_since(s.q, timed, FLOOR_MS, exact=True)), 3)
    s.expect("left", [entry.id for entry in s.run(streams.read(s.q, timed))], made[3:])
    step = first_step(streams.keep_since(s.q, timed, FLOOR_MS, exact=True))
    s.expect("floor", isinstance(step, Call) and step.args[-1], b"%d-0" % FLOOR_MS)


@chapter.scenario(78)
def stream_archived(s: Stage) -> None:
    """The archive's mark is kept, moved and forgotten."""
    marks = [s.mint("EVT"), s.mint("EVT")]
    s.expect("none", s.run(streams.archived(s.q, LOG)), None)
    for mark in marks:
        s.run(streams.set_archived(s.q, LOG, mark))
        s.expect("mark", s.run(streams.archived(s.q, LOG)), mark)
    s.expect("clear", s.run(streams.clear_archived(s.q, LOG)), True)
    s.expect("cleared", s.run(streams.archived(s.q, LOG)), None)
    s.expect("clear again", s.run(streams.clear_archived(s.q, LOG)), False)


@chapter.scenario(79)
def stream_time_travel(s: Stage) -> None:
    """A window of time gives what was minted inside it, both ends included."""
    from_ms, to_ms = FLOOR_MS, FLOOR_MS + 1000
    before, after = _at(from_ms - 1, TAIL), _at(to_ms + 1)
    inside = [_at(from_ms), _at(from_ms + 500), _at(to_ms), _at(to_ms, TAIL)]
    for record_id in (before, *inside, after):
        s.expect("append", _append(s, record_id), Word.ok)
    window = s.run(streams.read_window(s.q, LOG, from_ms, to_ms))
    s.expect("window", [entry.id for entry in window], inside)
    step = first_step(streams.read_window(s.q, LOG, from_ms, to_ms))
    bounds = isinstance(step, Call) and step.args[:2]
    s.expect("bounds", bounds, (b"%d-0" % from_ms, b"%d-4194303" % to_ms))
    since = s.run(streams.read_window(s.q, LOG, from_ms))
    s.expect("since", [entry.id for entry in since], [*inside, after])
