"""When a batch goes, without a server: windows of flat pending and of lanes, and empty claims."""

from __future__ import annotations

from queue_core.keys import queue
from queue_core.work.gathering import Choice, Gathering, Size, Waiting

Q = queue("gathering")


def gathering(least: int = 3, lanes: bool = False) -> Gathering:
    made = Gathering(Q, Size(least, 10), 1_000, 50, 1_000, lanes)
    assert made.choose(Waiting(0, 0, 0, paused=False), 100.0, tracks=True) is None
    assert made.look_at == 105.0  # five beats: the server tells of changes
    return made


def flat(size: int) -> Choice:
    return Choice(False, 3, size)


def test_a_window_ends_and_opens_with_a_batch() -> None:
    one = gathering()
    assert one.choose(Waiting(2, 0, 0, paused=False), 100.5, tracks=True) is None
    assert one.look_at == 101.0
    assert one.choose(Waiting(2, 0, 0, paused=False), 101.0, tracks=True) == flat(2)
    one.claimed(flat(2), 2, 101.1)
    assert one.choose(Waiting(2, 0, 0, paused=False), 101.2, tracks=True) is None
    assert one.look_at == 102.1
    assert one.choose(Waiting(99, 0, 0, paused=False), 101.3, tracks=True) == flat(10)


def test_what_is_heard_is_looked_at_and_a_batch_that_fills_by_the_poll() -> None:
    one = gathering()
    one.hear()
    assert one.look_at == 100.0  # nothing waited: whatever it is may be enough
    one.choose(Waiting(1, 0, 0, paused=False), 100.2, tracks=False)
    assert one.look_at == 101.0  # a window, or a beat where nobody tells
    one.hear()
    assert one.look_at == 100.25  # it fills up: a look each poll, however many come


def test_row_19_empty_claims_are_held_off_and_nothing_heard_shortens_that() -> None:
    one = gathering()
    waits = []
    for _ in range(7):
        one.claimed(flat(5), 0, 200.0)
        one.hear()
        waits.append(round(one.look_at - 200, 3))
    assert waits == [0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    one.claimed(flat(5), 5, 300.0)
    assert one.look_at == 300.0
    one.claimed(flat(5), 0, 300.0)
    assert round(one.look_at - 300, 3) == 0.05


def test_row_19_where_claims_find_nothing_and_nothing_is_heard_looks_get_rare() -> None:
    for tracks, longest in ((True, 5.0), (False, 1.0)):
        one, waits = gathering(), []
        for _ in range(9):
            one.choose(Waiting(5, 0, 0, paused=False), 200.0, tracks=tracks)
            one.claimed(flat(5), 0, 200.0)
            waits.append(round(one.look_at - 200, 3))
        assert waits[:5] == [0.05, 0.1, 0.2, 0.4, 0.8]
        assert waits[-2:] == [longest, longest]
        one.hear()
        assert one.look_at == 201.0


def test_row_19_a_paused_queue_is_left_alone() -> None:
    one = gathering(lanes=True)
    assert one.choose(Waiting(99, 9, 9, paused=True), 150.0, tracks=True) is None
    assert one.look_at == 155.0


def test_a_full_lane_does_not_put_off_those_that_are_not() -> None:
    one = gathering(lanes=True)
    found = Waiting(0, 3, 1, paused=False)
    assert one.choose(found, 100.9, tracks=True) == Choice(True, 3, 10)
    one.claimed(Choice(True, 3, 10), 9, 100.95)
    ends = Choice(True, 1, 10)
    for _ in range(3):  # each of the three lanes once, whatever is full meanwhile
        assert one.choose(found, 101.0, tracks=True) == ends
        one.claimed(ends, 1, 101.0)
    assert one.choose(Waiting(0, 2, 0, paused=False), 101.1, tracks=True) is None
    assert one.look_at == 102.0


def test_lanes_and_flat_jobs_take_turns() -> None:
    one = gathering(lanes=True)
    found, taken = Waiting(99, 9, 9, paused=False), []
    for _ in range(6):
        choice = one.choose(found, 100.1, tracks=True)
        assert choice is not None
        one.claimed(choice, 5, 100.1)
        taken.append(choice.of_lanes)
    assert taken == [False, True, False, True, False, True]
