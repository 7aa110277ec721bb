"""Verbs that take jobs to work on (protocol part 4.2)."""

import pytest

from queue_core.errors import InvalidError
from queue_core.outcomes import Word
from queue_core.reads.jobs import get_job, get_job_state
from queue_core.scripts import script
from queue_core.states import State
from queue_core.verbs import admission, claims, lanes, queues, settle
from tests.builders import HOUR, a_lane, command, row, score, server_ms


def test_a_claim_takes_the_oldest_by_mint_order(run, q, mint):
    ids = [mint() for _ in range(5)]
    run(admission.enqueue_many(q, [(job_id, b"p" + job_id) for job_id in reversed(ids)]))
    first = run(claims.claim(q, HOUR))
    assert (first.id, first.payload, first.attempts, first.group) == (
        ids[0], b"p" + ids[0], 1, None,
    )  # fmt: skip
    rest = run(claims.claim_batch(q, 9, HOUR))
    assert [lease.id for lease in rest] == ids[1:]
    assert len({lease.deadline_ms for lease in rest}) == 1
    assert run(claims.claim(q, HOUR)) is None


def test_the_deadline_is_the_score_in_active(run, q, make):
    make.pending()
    before = run(server_ms())
    lease = run(claims.claim(q, 5000))
    assert before + 5000 <= lease.deadline_ms <= run(server_ms()) + 5000
    assert run(score(q.active, lease.id)) == lease.deadline_ms


def test_a_batch_is_capped(run, q, mint):
    run(admission.enqueue_many(q, [(mint(), b"") for _ in range(claims.MOST + 5)]))
    assert len(run(claims.claim_batch(q, 10**9, HOUR))) == claims.MOST
    assert len(run(claims.claim_batch(q, 10**9, HOUR))) == 5


def test_a_lane_without_a_limit_yields_no_more_than_a_batch(run, q, mint):
    lane = a_lane()
    first = mint()
    run(admission.lane_enqueue(q, lane, first, b""))
    more = [word for _ in range(claims.MOST + 4) for word in (0, mint())]
    run(command("ZADD", q.lane(lane), *more))
    for job_id in more[1::2]:
        run(command("HSET", q.row(job_id), "state", "pending", "payload", "", "group", lane))
    assert len(run(claims.lane_claim_batch(q, HOUR))) == claims.MOST
    assert run(command("HGET", q.gactive, lane)) == b"1000"
    assert run(command("LRANGE", q.ring, 0, 5)) == [lane]
    assert len(run(claims.lane_claim_batch(q, HOUR))) == 5
    assert run(command("LLEN", q.ring)) == 0


def test_no_weight_and_no_size_goes_beyond_a_batch(run, q, mint):
    lane = a_lane()
    for job_id in [mint() for _ in range(claims.MOST + 5)]:
        words = ("state", "pending", "attempts", 0, "payload", "", "group", lane)
        run(command("HSET", q.row(job_id), *words))
        run(command("ZADD", q.lane(lane), 0, job_id))
    run(lanes.resume(q, lane))
    run(lanes.weight(q, lane, 10**6))
    assert len(run(claims.lane_claim_weighted(q, HOUR))) == claims.MOST
    assert len(run(claims.claim_next(q, 10**9, HOUR, weighted=True))) == 5
    run(lanes.weight(q, lane, None))
    run(admission.enqueue_many(q, [(mint(), b"") for _ in range(claims.MOST + 5)]))
    assert len(run(claims.claim_next(q, 10**9, HOUR))) == claims.MOST


def test_lanes_are_served_in_turn(run, q, make):
    one, two = a_lane(), a_lane()
    jobs = [make.in_lane(one), make.in_lane(one), make.in_lane(two), make.in_lane(two)]
    taken = [run(claims.lane_claim(q, HOUR)) for _ in range(4)]
    assert [lease.group for lease in taken] == [one, two, one, two]
    assert {lease.id for lease in taken} == {job.id for job in jobs}
    assert run(command("HGET", q.gactive, one)) == b"2"
    assert run(claims.lane_claim(q, HOUR)) is None


def test_a_share_is_bounded_by_weight_limit_and_depth(run, q, make):
    lane = a_lane()
    for _ in range(6):
        make.in_lane(lane)
    assert len(run(claims.lane_claim_weighted(q, HOUR))) == 1
    run(lanes.weight(q, lane, 3))
    assert len(run(claims.lane_claim_weighted(q, HOUR))) == 3
    run(lanes.limit(q, lane, 5))
    assert len(run(claims.lane_claim_batch(q, HOUR))) == 1
    assert run(claims.lane_claim_batch(q, HOUR)) == []
    assert run(command("LLEN", q.ring)) == 0


def test_a_full_lane_goes_before_others_and_those_keep_their_turn(run, q, make):
    small, large, bounded = a_lane(), a_lane(), a_lane()
    make.in_lane(small)
    for _ in range(4):
        make.in_lane(large)
    for _ in range(3):
        make.in_lane(bounded)
    run(lanes.limit(q, bounded, 2))
    look = waiting_lanes(q, 3)
    assert run(look())[1:] == [0, 3, 0, 2]
    assert [lease.group for lease in run(claims.lane_claim_full(q, 3, 3, HOUR))] == [large] * 3
    assert run(command("LRANGE", q.ring, 0, 9)) == [small, bounded, large]
    # Its ceiling lets no more than two go, so that waiting would not make it fuller.
    assert [lease.group for lease in run(claims.lane_claim_full(q, 3, 9, HOUR))] == [bounded] * 2
    assert run(command("LRANGE", q.ring, 0, 9)) == [small, large]
    assert run(claims.lane_claim_full(q, 3, 9, HOUR)) == []
    assert run(command("LRANGE", q.ring, 0, 9)) == [small, large]
    run(queues.pause(q))
    assert run(claims.lane_claim_full(q, 1, 9, HOUR)) == []
    assert run(look())[1:] == [0, 2, 1, 0]
    run(queues.resume(q))
    assert [lease.group for lease in run(claims.lane_claim_full(q, 1, 9, HOUR))] == [small]


def test_row_16_an_empty_lane_at_the_head_hides_no_full_one(run, q, make):
    job = make.in_lane()
    run(command("LPUSH", q.ring, a_lane()))
    assert [lease.id for lease in run(claims.lane_claim_full(q, 1, 9, HOUR))] == [job.id]
    assert run(command("LLEN", q.ring)) == 0


def waiting_lanes(q, least):
    call = script("reads/waiting_lanes").call((q.pending, q.ring, q.meta), q.base, least)

    def look():
        return (yield call)

    return look


def test_a_worker_s_name_is_kept_with_its_token_and_only_when_given(run, q, make):
    named, unnamed = make.pending(), make.pending()
    lease = run(claims.claim(q, HOUR, worker=b"host:7\x00x"))
    assert lease.id == named.id
    worker, token, at_ms = run(row(q, named.id))[b"py_held"].rsplit(b":", 2)
    assert (worker, token) == (b"host:7\x00x", b"1")
    assert int(at_ms) == lease.deadline_ms - HOUR
    run(claims.claim(q, HOUR))
    assert b"py_held" not in run(row(q, unnamed.id))


@pytest.mark.parametrize("lease_ms", [0, -1, 2**53, True, 1.5])
def test_a_lease_is_a_count_of_ms(q, lease_ms):
    for plan in (
        claims.claim(q, lease_ms),
        claims.claim_batch(q, 1, lease_ms),
        claims.lane_claim(q, lease_ms),
        claims.lane_claim_weighted(q, lease_ms),
        claims.lane_claim_batch(q, lease_ms),
        claims.lane_claim_full(q, 1, 1, lease_ms),
    ):
        with pytest.raises(InvalidError):
            next(plan)


def test_row_06_a_ghost_is_dropped_and_the_next_job_is_taken(run, q, make):
    ghost, orphan, job = make.ghost(q.pending), make.orphan_row(q.pending), make.pending()
    assert run(claims.claim(q, HOUR)).id == job.id
    assert run(command("ZCARD", q.pending)) == 0
    assert run(command("ZCARD", q.active)) == 1
    for gone in (ghost, orphan):
        assert run(get_job(q, gone.id)).value is None


@pytest.mark.planted
def test_row_06_a_key_that_is_no_row_of_a_job_is_passed_over_and_kept(run, q, mint, make):
    listed, results = mint(), mint()
    run(command("RPUSH", q.row(listed), "a line"))
    run(command("HSET", q.row(results), "JOB0NgWEfAEJfs", "result"))
    run(command("ZADD", q.pending, 0, listed, 0, results))
    job = make.pending()
    assert run(claims.claim(q, HOUR)).id == job.id
    assert run(command("LLEN", q.row(listed))) == 1
    assert run(command("HLEN", q.row(results))) == 1


def test_row_06_any_number_of_ghosts_hides_no_job(run, q, mint):
    ghosts = [mint() for _ in range(250)]
    run(command("ZADD", q.pending, *(word for job_id in ghosts for word in (0, job_id))))
    assert run(claims.claim(q, HOUR)) is None
    run(command("ZADD", q.pending, *(word for job_id in ghosts for word in (0, job_id))))
    job_id = mint()
    run(admission.enqueue(q, job_id, b""))
    assert run(claims.claim(q, HOUR)).id == job_id


def test_row_07_a_ghost_in_a_lane_takes_no_place_in_flight(run, q, make):
    lane = a_lane()
    make.ghost(q.lane(lane))
    job = make.in_lane(lane)
    assert run(claims.lane_claim(q, HOUR)).id == job.id
    assert run(command("HGET", q.gactive, lane)) == b"1"
    make.ghost(q.lane(lane))
    run(command("RPUSH", q.ring, lane))
    assert run(claims.lane_claim(q, HOUR)) is None
    assert run(command("HGET", q.gactive, lane)) == b"1"
    assert run(command("LLEN", q.ring)) == 0


def test_row_12_a_grouped_job_claimed_flat_is_counted_in_its_lane(run, q, make):
    lane = a_lane()
    job = make.in_lane(lane)
    run(command("ZREM", q.lane(lane), job.id))
    run(command("ZADD", q.pending, 0, job.id))
    held = make.active(lane)
    lease = run(claims.claim(q, HOUR))
    assert lease.id == job.id
    assert lease.group is None
    assert run(command("HGET", q.gactive, lane)) == b"2"
    assert run(settle.complete(q, lease.id, lease.token)) is Word.ok
    assert run(command("HGET", q.gactive, lane)) == b"1"
    assert run(settle.complete(q, held.id, held.token)) is Word.ok
    assert run(command("HLEN", q.gactive)) == 0


@pytest.mark.planted
def test_row_16_an_empty_lane_at_the_head_hides_no_other(run, q, make):
    """The wire's lane claim answers empty there; whoever loops above it asks on."""
    job = make.in_lane()
    empty = [a_lane() for _ in range(5)]
    run(command("LPUSH", q.ring, *empty))
    assert run(claims.lane_claim(q, HOUR)) is None
    run(command("LPUSH", q.ring, *empty))
    assert [lease.id for lease in run(claims.claim_next(q, 1, HOUR, ring_first=True))] == [job.id]
    assert run(command("LLEN", q.ring)) == 0


def test_row_21_no_claim_passes_a_pause(run, q, make):
    make.pending()
    make.in_lane()
    run(queues.pause(q))
    assert run(claims.claim(q, HOUR)) is None
    assert run(claims.claim_batch(q, 5, HOUR)) == []
    assert run(claims.lane_claim(q, HOUR)) is None
    assert run(claims.lane_claim_weighted(q, HOUR)) == []
    assert run(claims.lane_claim_batch(q, HOUR)) == []
    run(queues.resume(q))
    assert run(claims.claim(q, HOUR)) is not None
    assert run(claims.lane_claim(q, HOUR)) is not None


def test_row_22_limits_bind_claims_only_where_that_is_asked_for(run, q, make):
    for _ in range(8):
        make.pending()
    run(command("HSET", q.meta, "concurrency", 2, "max", 3, "py_window_ms", HOUR))
    assert len(run(claims.claim_batch(q, 3, HOUR))) == 3
    run(command("HSET", q.meta, "py_enforce", 1, "concurrency", 5))
    assert len(run(claims.claim_batch(q, 9, HOUR))) == 2
    assert run(claims.claim(q, HOUR)) is None
    assert run(command("GET", q.limiter)) == b"2"
    assert 0 < run(command("PTTL", q.limiter)) <= HOUR


def test_row_22_a_rate_lasts_for_its_window(run, q, make):
    lane = a_lane()
    for _ in range(4):
        make.in_lane(lane)
    run(command("HSET", q.meta, "py_enforce", 1, "max", 3, "py_window_ms", HOUR))
    assert len(run(claims.lane_claim_batch(q, HOUR))) == 3
    assert run(claims.lane_claim(q, HOUR)) is None
    assert run(command("LRANGE", q.ring, 0, 5)) == [lane]
    run(command("DEL", q.limiter))
    assert run(claims.lane_claim(q, HOUR)) is not None


def test_attempts_that_are_no_number_send_the_job_to_the_dead(run, q, make):
    broken, job = make.pending(), make.pending()
    run(command("HSET", q.row(broken.id), "attempts", "abc"))
    assert run(claims.claim(q, HOUR)).id == job.id
    assert run(get_job_state(q, broken.id)).value is State.dead
    fields = run(row(q, broken.id))
    assert fields[b"attempts"] == b"abc"
    assert fields[b"last_error"] == b"attempts is not a number"


@pytest.mark.parametrize("waiting", ["flat", "lane"])
def test_one_claim_takes_so_much_payload_and_leaves_the_rest_where_it_was(run, q, mint, waiting):
    lane, big = a_lane(), b"x" * (6 << 20)
    made = [mint() for _ in range(5)]
    for job_id in made:
        if waiting == "flat":
            run(admission.enqueue(q, job_id, big))
        else:
            run(admission.lane_enqueue(q, lane, job_id, big))
    claim = (
        claims.claim_batch(q, 5, HOUR) if waiting == "flat" else claims.lane_claim_batch(q, HOUR)
    )
    assert [lease.id for lease in run(claim)] == made[:3]
    ahead = run(claims.claim_next(q, 5, HOUR, sure=0))
    assert [lease.id for lease in ahead] == made[3:4]
    assert [lease.id for lease in run(claims.claim_next(q, 5, HOUR, sure=1))] == made[4:]
    assert run(claims.claim_next(q, 5, HOUR)) == []


def test_a_claim_that_is_laden_costs_no_lane_its_turn(run, q, mint):
    lanes_of_it = [a_lane() for _ in range(3)]
    made = [mint() for _ in lanes_of_it]
    for lane, job_id in zip(lanes_of_it, made, strict=True):
        run(admission.lane_enqueue(q, lane, job_id, b"x" * (9 << 20)))
    assert [lease.id for lease in run(claims.claim_next(q, 3, HOUR, ring_first=True))] == made[:2]
    assert run(command("LINDEX", q.ring, 0)) == lanes_of_it[2]
    assert [lease.id for lease in run(claims.claim_next(q, 3, HOUR, ring_first=True))] == made[2:]


@pytest.mark.planted
def test_attempts_beyond_what_a_script_counts_exactly_still_go_up(run, q, make):
    """A script's numbers are exact up to 2**53: the one in the row is the server's own."""
    job = make.pending()
    run(command("HSET", q.row(job.id), "attempts", 2**53))
    run(claims.claim(q, HOUR))
    assert run(row(q, job.id))[b"attempts"] == b"%d" % (2**53 + 1)
