"""Verbs on a lane."""

from collections.abc import Callable

import pytest

from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.plans import Plan, Step
from queue_core.verbs import claims, lanes
from tests.builders import Builder, Run, a_lane, command, score
from tests.engine.steps import watched


def ring(run: Run, q: QueueKeys) -> list[bytes]:
    names: list[bytes] = run(command("LRANGE", q.ring, 0, -1))
    return names


def test_pause_parks_a_lane_and_resume_offers_it(run: Run, q: QueueKeys, make: Builder) -> None:
    lane = a_lane()
    job = make.in_lane(lane)
    assert run(lanes.pause(q, lane)) is Word.ok
    assert run(lanes.pause(q, lane)) is Word.noop
    assert run(claims.lane_claim(q, 1000)) is None
    assert run(lanes.resume(q, lane)) is Word.ok
    assert run(lanes.resume(q, lane)) is Word.noop
    assert ring(run, q) == [lane]
    assert run(claims.lane_claim(q, 1000)).id == job.id


def test_resume_mends_a_lane_that_fell_out_of_the_ring(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    lane = a_lane()
    make.in_lane(lane)
    run(command("DEL", q.ring))
    assert run(lanes.resume(q, lane)) is Word.noop
    assert ring(run, q) == [lane]


def test_row_23_a_limit_can_be_lifted_and_offers_the_lane(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    lane = a_lane()
    make.active(lane)
    waiting = make.in_lane(lane)
    assert run(lanes.limit(q, lane, 1)) is Word.ok
    assert run(lanes.limit(q, lane, 1)) is Word.noop
    assert ring(run, q) == []
    assert run(lanes.limit(q, lane, None)) is Word.ok
    assert run(command("EXISTS", q.glimit)) == 0
    assert ring(run, q) == [lane]
    assert run(claims.lane_claim(q, 1000)).id == waiting.id


def test_row_23_a_weight_can_be_removed(run: Run, q: QueueKeys) -> None:
    lane = a_lane()
    words = [run(lanes.weight(q, lane, share)) for share in (3, 3, None, None)]
    assert words == [Word.ok, Word.noop, Word.ok, Word.noop]
    assert run(command("EXISTS", q.gweight)) == 0


@pytest.mark.parametrize(("verb", "key"), [(lanes.limit, "glimit"), (lanes.weight, "gweight")])
def test_a_number_is_set_only_over_the_one_that_was_seen(
    run: Run, q: QueueKeys, verb: Callable[..., Plan[Word]], key: str
) -> None:
    lane, held = a_lane(), getattr(q, key)
    assert run(verb(q, lane, 3, expected=2)) is Word.moved
    assert run(command("EXISTS", held)) == 0
    assert run(verb(q, lane, 3, expected=lanes.UNSET)) is Word.ok
    assert run(verb(q, lane, 9, expected=lanes.UNSET)) is Word.moved
    assert run(verb(q, lane, 9, expected="many")) is Word.moved
    assert run(verb(q, lane, None, expected=2)) is Word.moved
    assert run(command("HGET", held, lane)) == b"3"
    assert run(verb(q, lane, 3, expected=lanes.UNSET)) is Word.noop
    assert run(verb(q, lane, 9, expected="3")) is Word.ok
    assert run(verb(q, lane, None, expected=9)) is Word.ok
    run(command("HSET", held, lane, "no number"))
    assert run(verb(q, lane, 1, expected=lanes.UNSET)) is Word.ok


def test_a_limit_that_meets_another_leaves_the_ring_as_it_is(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    lane = a_lane()
    make.active(lane)
    make.in_lane(lane)
    assert run(lanes.limit(q, lane, 1, expected=2)) is Word.moved
    assert ring(run, q) == [lane]


def test_a_lifted_limit_leaves_a_paused_lane_parked(run: Run, q: QueueKeys, make: Builder) -> None:
    lane = a_lane()
    make.in_lane(lane)
    run(lanes.pause(q, lane))
    run(lanes.limit(q, lane, 2))
    run(lanes.limit(q, lane, None))
    assert ring(run, q) == []


@pytest.mark.parametrize("number", [0, -1, True])
def test_numbers_out_of_range_send_nothing(run: Run, q: QueueKeys, number: int) -> None:
    with pytest.raises(InvalidError):
        run(lanes.limit(q, a_lane(), number))
    with pytest.raises(InvalidError):
        run(lanes.weight(q, a_lane(), number))


def test_every_verb_gates_the_name(run: Run, q: QueueKeys, mint: Callable[[], bytes]) -> None:
    for plan in (
        lanes.pause(q, "lane"), lanes.resume(q, ""), lanes.limit(q, b"x", 1),
        lanes.weight(q, b"x", 1), lanes.drain(q, b"x"), lanes.depth(q, b"x"),
        lanes.reassign(q, mint(), b"x"),
    ):  # fmt: skip
        with pytest.raises(InvalidError):
            run(plan)


def test_reassign_moves_row_place_and_ring(run: Run, q: QueueKeys, make: Builder) -> None:
    source, target = a_lane(), a_lane()
    job = make.in_lane(source)
    assert run(lanes.reassign(q, job.id, source)) is Word.noop
    assert run(lanes.reassign(q, job.id, target)) is Word.reassigned
    assert ring(run, q) == [target]
    assert run(score(q.lane(source), job.id)) is None
    assert run(claims.lane_claim(q, 1000)).group == target
    assert run(lanes.reassign(q, job.id, source)) is Word.not_pending
    assert run(lanes.reassign(q, make.pending().id, source)) is Word.not_found


def test_reassign_moves_only_out_of_the_lane_that_was_seen(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    source, target, other = a_lane(), a_lane(), a_lane()
    job = make.in_lane(source)
    assert run(lanes.reassign(q, job.id, target, other)) is Word.moved
    assert run(score(q.lane(source), job.id)) == 0
    assert run(lanes.reassign(q, job.id, target, source)) is Word.reassigned
    assert run(lanes.reassign(q, job.id, target, source)) is Word.noop


def test_drain_is_bounded_and_spares_the_neighbours(run: Run, q: QueueKeys, make: Builder) -> None:
    lane = a_lane()
    for _ in range(3):
        make.in_lane(lane)
    other = make.in_lane()
    seen: list[Step] = []
    assert run(watched(lanes.drain_step(q, lane, 2), seen)) == (2, 1)
    assert len(seen) == 1
    assert run(lanes.drain(q, lane)) == 1
    assert run(lanes.drain(q, lane)) == 0
    assert ring(run, q) == [other.group]


def test_depths_are_read_at_one_moment(run: Run, q: QueueKeys, make: Builder) -> None:
    lane, empty = a_lane(), a_lane()
    make.in_lane(lane)
    make.in_lane(lane)
    seen: list[Step] = []
    assert run(watched(lanes.depths(q, [lane, empty]), seen)) == {lane: 2, empty: 0}
    assert len(seen) == 1
    assert run(lanes.depth(q, lane)) == 2
