"""Verbs that time drives (protocol part 4.4)."""

import pytest

from queue_core.errors import InvalidError
from queue_core.reads.jobs import get_job_state
from queue_core.states import State
from queue_core.verbs import admission, claims, due, lanes, queues
from queue_core.work.pump import return_stalled
from tests.builders import HOUR, a_lane, command, row, score


def state(run, q, job):
    return run(get_job_state(q, job.id)).value


def test_promote_moves_what_is_due_earliest_first(run, q, make):
    late, later, future = make.due(), make.due(), make.scheduled()
    run(command("ZADD", q.schedule, -5, later.id))
    assert run(due.promote(q, 1)) == 1
    assert state(run, q, later) is State.pending
    assert run(due.promote(q, 9)) == 1
    assert state(run, q, late) is State.pending
    assert state(run, q, future) is State.scheduled
    assert run(score(q.pending, late.id)) == 0


def test_promote_goes_on_while_paused_and_wakes_lanes_only(run, q, make):
    lane = a_lane()
    run(queues.pause(q))
    flat, laned = make.due(), make.due(lane)
    assert run(due.promote(q, 10)) == 2
    assert (state(run, q, flat), state(run, q, laned)) == (State.pending, State.in_lane)
    assert run(command("LRANGE", q.wake, 0, 9)) == [b"1"]


def test_promote_offers_no_parked_lane_and_none_at_its_limit(run, q, make):
    parked, full = a_lane(), a_lane()
    run(lanes.limit(q, full, 1))
    make.active(full)
    run(lanes.pause(q, parked))
    make.due(parked)
    make.due(full)
    assert run(due.promote(q, 10)) == 2
    assert run(command("LLEN", q.ring)) == 0


@pytest.mark.parametrize("number", [0, -1, True, 1.5])
def test_batches_and_limits_are_counts_from_one(q, number):
    for plan in (
        due.promote(q, number),
        due.reap_group(q, a_lane(), number),
        due.check_stalled(q, number),
        due.check_stalled(q, 1, number),
    ):
        with pytest.raises(InvalidError):
            next(plan)


def test_reap_lets_expired_jobs_wait_again_with_their_attempts(run, q, make):
    lane = a_lane()
    flat, laned = make.expired(), make.expired(lane)
    held = make.active()
    assert run(due.reap(q)) == 2
    assert (state(run, q, flat), state(run, q, laned)) == (State.pending, State.in_lane)
    assert state(run, q, held) is State.active
    assert run(row(q, flat.id))[b"attempts"] == b"1"
    assert run(command("HLEN", q.gactive)) == 0
    assert run(claims.lane_claim(q, HOUR)).attempts == 2


def test_reap_ends_a_hundred_leases_at_once(run, q, make):
    for _ in range(due.REAP_AT_ONCE + 3):
        make.pending()
    held = run(claims.claim_batch(q, 200, HOUR))
    run(command("ZADD", q.active, *(word for lease in held for word in (1, lease.id))))
    assert run(due.reap(q)) == due.REAP_AT_ONCE
    assert run(due.reap(q)) == 3


def test_reap_group_returns_its_own_lane_only(run, q, make):
    one, two = a_lane(), a_lane()
    mine, other = make.expired(one), make.expired(two)
    assert run(due.reap_group(q, one)) == 1
    assert state(run, q, mine) is State.in_lane
    assert state(run, q, other) is State.active
    assert run(command("HGET", q.gactive, two)) == b"1"
    assert run(due.reap_group(q, a_lane())) == 0


def test_the_stalled_sweep_counts_and_then_gives_up(run, q, make):
    job = make.expired()
    assert run(due.check_stalled(q, 2)) == ([job.id], [])
    assert run(row(q, job.id))[b"stalled"] == b"1"
    run(claims.claim(q, HOUR))
    run(command("ZADD", q.active, 1, job.id))
    assert run(due.check_stalled(q, 2)) == ([], [job.id])
    fields = run(row(q, job.id))
    assert (fields[b"state"], fields[b"last_error"]) == (b"dead", b"stalled")
    assert run(command("HGET", q.metrics_failed, "count")) == b"1"


@pytest.mark.parametrize("move", ["promote", "reap", "check_stalled"])
def test_row_06_time_moves_no_ghost(run, q, make, move):
    key = q.schedule if move == "promote" else q.active
    ghost, orphan = make.ghost(key), make.orphan_row(key)
    job = make.due() if move == "promote" else make.expired()
    if move == "promote":
        assert run(due.promote(q, 10)) == 1
    elif move == "reap":
        assert run(due.reap(q)) == 1
    else:
        assert run(due.check_stalled(q, 2)) == ([job.id], [])
    assert state(run, q, job) is State.pending
    for gone in (ghost, orphan):
        assert state(run, q, gone) is State.absent
        assert run(score(key, gone.id)) is None
    assert run(claims.claim_batch(q, 9, HOUR))[0].id == job.id


def test_row_13_a_stalled_death_opens_the_lane_at_its_limit(run, q, make):
    lane = a_lane()
    run(lanes.limit(q, lane, 1))
    job = make.expired(lane)
    waiting = make.in_lane(lane)
    assert run(command("LLEN", q.ring)) == 0
    assert run(due.check_stalled(q)) == ([], [job.id])
    assert run(command("HLEN", q.gactive)) == 0
    assert run(claims.lane_claim(q, HOUR)).id == waiting.id


def test_a_stall_count_that_is_no_number_stops_no_sweep(run, q, make):
    broken, job = make.expired(), make.expired()
    run(command("HSET", q.row(broken.id), "stalled", "abc"))
    assert run(due.check_stalled(q, 2)) == ([job.id], [broken.id])


def test_row_15_a_sweep_returns_every_ended_lease_however_many_stand_before(run, q, mint):
    """One reap ends a hundred, and `reap_group` sees nothing behind the first of all lanes."""
    first, last = a_lane(), a_lane()
    for _ in range(260):
        run(admission.lane_enqueue(q, first, mint(), b""))
    while run(claims.lane_claim_batch(q, 1)):
        pass
    run(admission.lane_enqueue(q, last, mint(), b""))
    held = run(claims.lane_claim(q, 1))
    run(command("ZADD", q.active, "XX", 10**12, held.id))
    crowd = run(command("ZRANGE", q.active, 0, -1))
    run(command("ZADD", q.active, *(word for id_ in crowd[:-1] for word in (1, id_))))
    assert run(due.reap_group(q, last)) == 0
    run(return_stalled(q, 3))
    assert run(command("ZCARD", q.active)) == 0
    assert run(command("HLEN", q.gactive)) == 0
    assert run(command("ZCARD", q.lane(first))) == 260
    assert run(score(q.lane(last), held.id)) == 0
