"""Verbs of the one who holds a job (protocol part 4.3)."""

import pytest

from queue_core.errors import InvalidError
from queue_core.outcomes import Word
from queue_core.reads.counts import get_counts
from queue_core.reads.jobs import get_job_state
from queue_core.states import State
from queue_core.verbs import claims, due, lanes, settle
from tests.builders import HOUR, a_lane, command, row, score, server_ms


def test_complete_removes_the_row_and_counts_it_once(run, q, make):
    job = make.active()
    assert run(settle.complete(q, job.id, 99)) is Word.stale
    assert run(settle.complete(q, job.id, job.token)) is Word.ok
    assert run(settle.complete(q, job.id, job.token)) is Word.gone
    assert run(row(q, job.id)) == {}
    counts = run(get_counts(q)).value
    assert (counts["active"], counts["completed"]) == (0, 1)


def test_a_token_is_compared_byte_by_byte(run, q, make):
    job = make.active()
    for token in (b"01", b"1.0", b" 1", b""):
        assert run(settle.complete(q, job.id, token)) is Word.stale
    assert run(settle.complete(q, job.id, "1")) is Word.ok


def test_retry_schedules_until_the_attempts_are_used_up(run, q, make):
    job = make.active()
    before = run(server_ms())
    assert run(settle.retry(q, job.id, job.token, 5000, 2, b"boom \xff\x00")) is Word.scheduled
    assert before + 5000 <= run(score(q.schedule, job.id)) <= run(server_ms()) + 5000
    assert run(row(q, job.id))[b"last_error"] == b"boom \xff\x00"
    run(command("ZADD", q.schedule, 1, job.id))
    assert run(due.promote(q, 1)) == 1
    again = run(claims.claim(q, HOUR))
    assert again.attempts == 2
    assert run(settle.retry(q, job.id, again.token, 5000, 2, b"gave up")) is Word.dead
    assert run(score(q.dead, job.id)) == 0
    assert run(get_counts(q)).value["failed"] == 1


def test_a_grouped_job_keeps_its_lane_through_a_retry(run, q, make):
    lane = a_lane()
    run(lanes.limit(q, lane, 1))
    job = make.active(lane)
    other = make.in_lane(lane)
    assert run(claims.lane_claim(q, HOUR)) is None
    assert run(settle.retry(q, job.id, job.token, 0, 5, b"e")) is Word.scheduled
    assert run(claims.lane_claim(q, HOUR)).id == other.id
    run(due.promote(q, 1))
    assert run(get_job_state(q, job.id)).value is State.in_lane


def test_row_02_delay_releases_the_lane(run, q, make):
    lane = a_lane()
    run(lanes.limit(q, lane, 1))
    job = make.active(lane)
    waiting = make.in_lane(lane)
    assert run(command("LLEN", q.ring)) == 0
    assert run(settle.delay(q, job.id, job.token, HOUR)) is Word.ok
    assert run(command("HLEN", q.gactive)) == 0
    assert run(command("LRANGE", q.ring, 0, 5)) == [lane]
    assert run(claims.lane_claim(q, HOUR)).id == waiting.id
    assert run(command("HGET", q.gactive, lane)) == b"1"


def test_delay_uses_up_no_attempt_and_keeps_the_row(run, q, make):
    job = make.active()
    before = run(row(q, job.id))
    assert run(settle.delay(q, job.id, job.token, -5)) is Word.ok
    assert run(row(q, job.id)) == before | {b"state": b"scheduled"}
    assert run(settle.delay(q, job.id, job.token, 4_102_444_800_000, "at")) is Word.ok
    assert run(score(q.schedule, job.id)) == 4_102_444_800_000
    with pytest.raises(InvalidError):
        next(settle.delay(q, job.id, job.token, 1, "on"))


def test_delay_is_for_jobs_only(run, q):
    other = b"ORD0NgWEfAEJfs"
    run(command("HSET", q.row(other), "attempts", 1))
    assert run(settle.delay(q, other, 1, 0)) is Word.kind


@pytest.mark.parametrize("grouped", [False, True])
def test_row_03_a_reaped_job_is_delayed_out_of_its_waiting_set(run, q, make, grouped):
    lane = a_lane() if grouped else None
    job = make.expired(lane)
    run(due.reap(q))
    assert run(settle.delay(q, job.id, job.token, HOUR)) is Word.ok
    assert run(get_job_state(q, job.id)).value is State.scheduled
    assert run(command("ZCARD", q.pending)) == 0
    assert run(command("LLEN", q.ring)) == 0
    assert run(claims.claim(q, HOUR)) is None
    assert run(claims.lane_claim(q, HOUR)) is None


@pytest.mark.planted
def test_row_04_extending_brings_nothing_back(run, q, make):
    reaped = make.expired()
    run(due.reap(q))
    dead, held = make.dead(), None
    run(command("ZREM", q.pending, reaped.id))
    run(command("ZADD", q.schedule, HOUR, reaped.id))
    held = make.active()
    assert run(settle.extend_lock(q, reaped.id, reaped.token, HOUR)) is Word.not_held
    assert run(settle.extend_lock(q, dead.id, dead.token, HOUR)) is Word.not_held
    assert run(settle.extend_lock(q, held.id, held.token, HOUR)) is Word.ok
    pairs = [(job.id, job.token) for job in (reaped, held, dead)]
    assert run(settle.extend_locks(q, pairs, HOUR)) == [reaped.id, dead.id]
    assert run(command("ZCARD", q.active)) == 1


def test_extend_locks_names_every_lease_that_was_lost(run, q, make):
    live, stale, missing = make.active(), make.active(), make.absent()
    held = [(live.id, 1), (stale.id, 9), (missing.id, 1)]
    before = run(server_ms())
    assert run(settle.extend_locks(q, held, 2 * HOUR)) == [stale.id, missing.id]
    assert run(score(q.active, live.id)) >= before + 2 * HOUR
    assert run(settle.extend_locks(q, [], HOUR)) == []


@pytest.mark.parametrize("state", [State.scheduled, State.dead])
def test_row_05_complete_leaves_no_entry_in_any_set(run, q, make, state):
    job = make.state(state)
    token = run(row(q, job.id))[b"attempts"]
    assert run(settle.complete(q, job.id, token)) is Word.ok
    for key in (q.pending, q.active, q.schedule, q.dead):
        assert run(score(key, job.id)) is None


def test_row_05_retry_leaves_one_entry(run, q, make):
    job = make.dead()
    assert run(settle.retry(q, job.id, job.token, HOUR, 9, b"e")) is Word.scheduled
    assert run(score(q.dead, job.id)) is None
    assert run(settle.retry(q, job.id, job.token, HOUR, 1, b"e")) is Word.dead
    assert run(score(q.schedule, job.id)) is None


def test_row_09_a_missing_row_is_gone_for_every_settle(run, q, make):
    job = make.absent()
    assert run(settle.complete(q, job.id, 1)) is Word.gone
    assert run(settle.retry(q, job.id, 1, 0, 3, b"e")) is Word.gone
    assert run(settle.delay(q, job.id, 1, 0)) is Word.gone
    assert run(settle.extend_lock(q, job.id, 1, HOUR)) is Word.gone


def test_a_job_in_two_sets_leaves_both(run, q, make):
    lane = a_lane()
    job = make.active(lane)
    run(command("ZADD", q.lane(lane), 0, job.id))
    run(command("RPUSH", q.ring, lane))
    assert run(settle.complete(q, job.id, job.token)) is Word.ok
    assert run(command("EXISTS", q.lane(lane))) == 0
    assert run(command("LLEN", q.ring)) == 0
    assert run(command("HLEN", q.gactive)) == 0
