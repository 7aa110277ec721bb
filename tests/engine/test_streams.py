"""Streams of records."""

import pytest

from queue_core import ids
from queue_core.errors import InvalidError
from queue_core.ids import Minter
from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.plans import Step
from queue_core.verbs import streams
from tests.builders import HOUR, Run, command, raw, server_ms
from tests.engine.steps import watched

S = b"audit"
NOON_MS = 1_740_830_400_500


def event(at_ms: int, tail: int = 0) -> bytes:
    return ids.encode("EVT", ids.min_for(at_ms) + tail)


def test_records_stand_in_the_order_of_their_ids(run: Run, q: QueueKeys) -> None:
    mint = Minter(402).mint
    appended = [mint("EVT") for _ in range(3)]
    for record_id in appended:
        assert run(streams.append(q, S, record_id, [("k", b"\xff")])) is Word.ok
    entries = run(streams.read(q, S))
    assert [entry.id for entry in entries] == appended
    assert entries[0].fields == ((b"k", b"\xff"),)
    assert run(streams.read(q, S, 1, entries[0].place)) == [entries[1]]
    assert run(streams.append(q, S, appended[0], [])) is Word.nonmonotonic
    assert run(command("XLEN", q.stream(S))) == 3


def test_another_namespace_sends_nothing(run: Run, q: QueueKeys) -> None:
    with pytest.raises(InvalidError):
        run(streams.append(q, S, ids.encode("ORD", 5), []))
    assert run(command("EXISTS", q.stream(S))) == 0
    assert run(streams.append(q, S, event(NOON_MS), [])) is Word.ok


def test_row_48_each_record_of_a_batch_has_its_verdict(run: Run, q: QueueKeys) -> None:
    seen: list[Step] = []
    records = [(event(NOON_MS, tail), [("n", str(tail))]) for tail in (1, 2, 1, 3)]
    assert run(watched(streams.append_many(q, S, records), seen)) == [
        Word.ok, Word.ok, Word.nonmonotonic, Word.ok,
    ]  # fmt: skip
    assert len(seen) == 1
    assert run(streams.append_many(q, S, [])) == []


def test_a_window_is_inclusive_to_the_millisecond(run: Run, q: QueueKeys) -> None:
    moments = [NOON_MS - 1, NOON_MS, NOON_MS + 5, NOON_MS + 6]
    for at in moments:
        run(streams.append(q, S, event(at, ids.TAIL_MASK), []))
    inside = run(streams.read_window(q, S, NOON_MS, NOON_MS + 5))
    assert [entry.id for entry in inside] == [event(at, ids.TAIL_MASK) for at in moments[1:3]]
    assert len(run(streams.read_window(q, S, NOON_MS))) == 3


def test_trimming_keeps_the_youngest(run: Run, q: QueueKeys) -> None:
    for at in range(6):
        run(streams.append(q, S, event(NOON_MS + at), []))
    assert run(streams.keep_last(q, S, 4, exact=True)) == 2
    assert run(streams.keep_since(q, S, NOON_MS + 4, exact=True)) == 2
    assert [entry.id for entry in run(streams.read(q, S))] == [
        event(NOON_MS + 4),
        event(NOON_MS + 5),
    ]


def test_a_group_hands_each_record_to_one_consumer(run: Run, q: QueueKeys) -> None:
    assert run(streams.group(q, S, b"g", from_start=True)) is Word.ok
    assert run(streams.group(q, S, b"g")) is Word.exists
    for at in range(2):
        run(streams.append(q, S, event(NOON_MS + at), [("n", str(at))]))
    first, second = run(streams.group_read(q, S, b"g", b"c1"))
    assert run(streams.group_read(q, S, b"g", b"c2")) == []
    assert run(streams.ack(q, S, b"g", [first.place])) == 1
    assert run(streams.group_held(q, S, b"g", b"c1")) == [second]
    assert run(streams.group_held(q, S, b"g", b"c1", after=second.place)) == []
    assert run(streams.take_over(q, S, b"g", b"c2", 0)) == (b"0-0", [second])
    assert run(streams.deliveries(q, S, b"g", b"c2", [second.place])) == {second.place: 3}
    assert run(streams.ack(q, S, b"g", [])) == 0


def test_a_trimmed_record_that_is_held_has_no_fields(run: Run, q: QueueKeys) -> None:
    run(streams.group(q, S, b"g"))
    run(streams.append(q, S, event(NOON_MS), [("n", "1")]))
    run(streams.group_read(q, S, b"g", b"c"))
    run(streams.keep_last(q, S, 0, exact=True))
    (left,) = run(streams.group_held(q, S, b"g", b"c"))
    assert (left.id, left.fields) == (None, ())


def test_the_archive_mark(run: Run, q: QueueKeys) -> None:
    assert run(streams.archived(q, S)) is None
    run(streams.set_archived(q, S, event(NOON_MS)))
    assert run(streams.archived(q, S)) == event(NOON_MS)
    assert run(streams.clear_archived(q, S)) is True
    assert run(streams.clear_archived(q, S)) is False
    with pytest.raises(InvalidError):
        run(streams.set_archived(q, S, b"x"))


@pytest.mark.parametrize("size", [0, streams.MOST_ENTRIES + 1])
def test_reads_are_bounded(run: Run, q: QueueKeys, size: int) -> None:
    with pytest.raises(InvalidError):
        run(streams.read(q, S, size))


def served(run: Run, q: QueueKeys, records: int = 1) -> list[streams.Entry]:
    """Records in the hands of `c` of the group `g`."""
    run(streams.group(q, S, b"g"))
    for at in range(records):
        run(streams.append(q, S, event(NOON_MS, at + 1), [("n", str(at))]))
    held: list[streams.Entry] = run(streams.group_read(q, S, b"g", b"c"))
    return held


def test_row_48_a_record_that_always_fails_is_parked_beside(run: Run, q: QueueKeys) -> None:
    poison, good = served(run, q, 2)
    assert run(streams.park(q, S, b"g", b"other", poison.place, 3, "no")) is Word.gone
    assert run(streams.park(q, S, b"g", b"c", poison.place, 3, "no")) is Word.ok
    assert run(streams.park(q, S, b"g", b"c", poison.place, 3, "no")) is Word.gone
    assert run(streams.group_held(q, S, b"g", b"c")) == [good]
    (parked,) = run(streams.parked(q, S))
    assert (parked.group, parked.deliveries, parked.reason) == (b"g", 3, b"no")
    assert parked.record == poison
    assert run(streams.parked(q, S, after=parked.note)) == []
    assert [entry.id for entry in run(streams.read(q, S))] == [poison.id, good.id]
    assert run(streams.forget_parked(q, S, [parked.note])) == 1
    assert run(streams.forget_parked(q, S, [])) == 0


def test_a_trimmed_record_is_parked_without_fields(run: Run, q: QueueKeys) -> None:
    (gone,) = served(run, q)
    run(streams.keep_last(q, S, 0, exact=True))
    assert run(streams.park(q, S, b"g", b"c", gone.place, 1, b"\xff")) is Word.ok
    (parked,) = run(streams.parked(q, S))
    assert parked.record == streams.Entry(gone.place, None, ())


def test_a_record_too_wide_to_be_kept_beside_is_parked_all_the_same(run: Run, q: QueueKeys) -> None:
    run(streams.group(q, S, b"g"))
    wide, words = event(NOON_MS), [word for n in range(4000) for word in (b"f%d" % n, b"")]
    run(command("XADD", q.stream(S), streams.place_of(wide), "id", wide, *words))
    (poison,) = run(streams.group_read(q, S, b"g", b"c"))
    assert run(streams.park(q, S, b"g", b"c", poison.place, 3, b"why")) is Word.ok
    (parked,) = run(streams.parked(q, S))
    assert parked.record.id == wide
    assert parked.record.fields == ((b"py_fields", b"4001"),)


def test_what_is_held_on_to_is_not_taken_over(run: Run, q: QueueKeys) -> None:
    kept, lost = served(run, q, 2)
    run(command("XCLAIM", q.stream(S), "g", "other", 0, lost.place))
    assert run(streams.hold(q, S, b"g", b"c", [kept.place, lost.place])) == [lost.place]
    assert run(streams.deliveries(q, S, b"g", b"c", [kept.place, lost.place])) == {kept.place: 1}


def test_a_consumer_leaves_only_with_empty_hands(run: Run, q: QueueKeys) -> None:
    (held,) = served(run, q)
    assert run(streams.leave(q, S, b"g", b"c")) is Word.noop
    run(streams.ack(q, S, b"g", [held.place]))
    assert run(streams.leave(q, S, b"g", b"c")) is Word.ok
    assert run(raw("XINFO", "CONSUMERS", q.stream(S), "g")) == []


def test_the_old_are_trimmed_by_the_server_s_clock(run: Run, q: QueueKeys) -> None:
    now = run(server_ms())
    for at in (now - 2 * HOUR, now - HOUR // 2, now):
        run(streams.append(q, S, event(at), []))
    assert run(streams.keep_younger(q, S, HOUR, exact=True)) == 1
    assert run(streams.keep_younger(q, S, HOUR)) == 0
    assert len(run(streams.read(q, S))) == 2
