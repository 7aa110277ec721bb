"""Verbs that bring jobs in (protocol part 4.1)."""

import pytest

from queue_core.errors import InvalidError, WrongTypeFault
from queue_core.outcomes import Word
from queue_core.reads.jobs import get_job_state
from queue_core.states import State
from queue_core.verbs import admission, claims, due, jobs, queues, settle
from tests.builders import HOUR, a_lane, command, row, score, server_ms

ORD = b"ORD0NgWEfAEJfs"


def test_a_flat_row_has_three_fields_and_a_lane_row_four(run, q, make):
    flat, laned = make.pending(b"cargo"), make.in_lane(payload=b"cargo")
    three = {b"state": b"pending", b"attempts": b"0", b"payload": b"cargo"}
    assert run(row(q, flat.id)) == three
    assert run(row(q, laned.id)) == three | {b"group": laned.group}
    assert run(score(q.pending, flat.id)) == 0
    assert run(score(q.lane(laned.group), laned.id)) == 0


def test_an_id_of_another_kind_is_refused_even_where_it_exists(run, q):
    run(command("HSET", q.row(ORD), "state", "pending"))
    lane = a_lane()
    for plan in (
        admission.enqueue(q, ORD, b""),
        admission.enqueue_at(q, ORD, b"", 1),
        admission.enqueue_in(q, ORD, b"", 1),
        admission.lane_enqueue(q, lane, ORD, b""),
        admission.lane_enqueue_at(q, lane, ORD, b"", 1),
        admission.lane_enqueue_in(q, lane, ORD, b"", 1),
    ):
        assert run(plan) is Word.kind
    assert run(row(q, ORD)) == {b"state": b"pending"}


def test_a_duplicate_changes_nothing(run, q, make):
    job = make.pending(b"once")
    lane = a_lane()
    for plan in (
        admission.enqueue(q, job.id, b"twice"),
        admission.enqueue_at(q, job.id, b"twice", 1),
        admission.enqueue_in(q, job.id, b"twice", 1),
        admission.lane_enqueue(q, lane, job.id, b"twice"),
        admission.lane_enqueue_at(q, lane, job.id, b"twice", 1),
        admission.lane_enqueue_in(q, lane, job.id, b"twice", 1),
    ):
        assert run(plan) is Word.duplicate
    assert run(row(q, job.id))[b"payload"] == b"once"
    assert run(score(q.schedule, job.id)) is None
    assert run(score(q.lane(lane), job.id)) is None


@pytest.mark.parametrize("run_at_ms", [-1, 0, 1_700_000_000_000, 2**53 - 1, -(2**53) + 1])
def test_an_instant_is_kept_exactly(run, q, mint, run_at_ms):
    job_id = mint()
    assert run(admission.enqueue_at(q, job_id, b"", run_at_ms)) is Word.scheduled
    assert run(score(q.schedule, job_id)) == run_at_ms


def test_a_delay_counts_from_the_server_s_now(run, q, make):
    before = run(server_ms())
    job = make.scheduled(delay_ms=5000)
    assert before + 5000 <= run(score(q.schedule, job.id)) <= run(server_ms()) + 5000


@pytest.mark.parametrize(
    "plan",
    [
        lambda q: admission.enqueue(q, b"JOBtooshort", b""),
        lambda q: admission.enqueue(q, b"JOBAzL8n0Y58m8", b""),
        lambda q: admission.enqueue_in(q, b"JOB0NgWEfAEJfs", b"", -1),
        lambda q: admission.enqueue_in(q, b"JOB0NgWEfAEJfs", b"", 2**53),
        lambda q: admission.enqueue_at(q, b"JOB0NgWEfAEJfs", b"", 2**53),
        lambda q: admission.enqueue_at(q, b"JOB0NgWEfAEJfs", b"", True),
        lambda q: admission.enqueue_at(q, b"JOB0NgWEfAEJfs", b"", 1.5),
        lambda q: admission.lane_enqueue(q, b"no lane", b"JOB0NgWEfAEJfs", b""),
        lambda q: admission.enqueue_many(q, [(b"JOB0NgWEfAEJfs", b""), (b"bad", b"")]),
    ],
)
def test_the_gate_refuses_before_anything_is_sent(q, plan):
    with pytest.raises(InvalidError):
        next(plan(q))


def test_payload_bytes_are_opaque(run, q, mint):
    payload = bytes(range(256)) + "ünï \x1b[31m".encode()
    job_id = mint()
    run(admission.enqueue(q, job_id, payload))
    assert run(row(q, job_id))[b"payload"] == payload


def test_admission_goes_on_while_the_queue_is_paused(run, q, make):
    run(queues.pause(q))
    job = make.pending()
    assert run(get_job_state(q, job.id)).value is State.pending


def test_row_42_many_answer_one_by_one_and_none_answers_nothing(run, q, mint, make):
    known, fresh = make.pending(), mint()
    items = [(fresh, b"a"), (known.id, b"b"), (ORD, b"c"), (fresh, b"d")]
    assert run(admission.enqueue_many(q, items)) == [
        Word.enqueued, Word.duplicate, Word.kind, Word.duplicate,
    ]  # fmt: skip
    assert run(admission.enqueue_many(q, [])) == []


@pytest.mark.planted
def test_row_42_a_fault_stands_in_the_place_of_its_item(run, q, mint):
    run(command("SET", q.pending, "not a set"))
    first, second = mint(), ORD
    faults = run(admission.enqueue_many(q, [(first, b""), (second, b"")]))
    assert isinstance(faults[0], WrongTypeFault)
    assert faults[1] is Word.kind
    assert run(row(q, first)) == {}


def test_row_24_a_scheduled_job_enters_its_lane_when_due(run, q, mint):
    lane, now, later = a_lane(), mint(), mint()
    assert run(admission.lane_enqueue_at(q, lane, now, b"a", 1)) is Word.scheduled
    assert run(admission.lane_enqueue_in(q, lane, later, b"b", HOUR)) is Word.scheduled
    assert run(get_job_state(q, now)).value is State.scheduled
    assert run(due.promote(q, 10)) == 1
    assert run(get_job_state(q, now)).value is State.in_lane
    assert run(command("LRANGE", q.ring, 0, 5)) == [lane]
    assert run(command("LLEN", q.wake)) == 1
    assert run(get_job_state(q, later)).value is State.scheduled


def test_row_23_one_job_is_admitted_under_a_dedup_id(run, q, mint):
    first, second = mint(), mint()
    once = (q, "order-42", HOUR)
    assert run(admission.enqueue_once(*once, first, b"a")) == (Word.enqueued, first)
    assert run(admission.enqueue_once(*once, second, b"b")) == (Word.exists, first)
    assert run(admission.enqueue_once(*once, first, b"a")) == (Word.exists, first)
    assert run(row(q, first)) == {b"state": b"pending", b"attempts": b"0", b"payload": b"a"}
    assert run(row(q, second)) == {}
    assert run(jobs.get_dedup_job_id(q, "order-42")) == first
    assert 0 < run(command("PTTL", q.dedup(b"order-42"))) <= HOUR
    assert run(jobs.remove_job(q, first, "order-42")) is Word.ok
    assert run(admission.enqueue_once(*once, second, b"b")) == (Word.enqueued, second)


def test_row_23_a_dedup_id_outlives_its_job_and_ends(run, q, mint):
    first, second = mint(), mint()
    run(admission.enqueue_once(q, "d", 60, first, b""))
    held = run(claims.claim(q, HOUR))
    run(settle.complete(q, held.id, held.token))
    while (answer := run(admission.enqueue_once(q, "d", 60, second, b"")))[0] is Word.exists:
        assert answer[1] == first
    assert answer == (Word.enqueued, second)


def test_row_23_it_enters_a_lane_or_waits_as_any_job(run, q, mint):
    lane, laned, later, both = a_lane(), mint(), mint(), mint()
    plans = [
        admission.enqueue_once(q, "a", HOUR, laned, b"", lane),
        admission.enqueue_once(q, "b", HOUR, later, b"", delay_ms=0),
        admission.enqueue_once(q, "c", HOUR, both, b"", lane, HOUR),
    ]
    assert [run(plan)[0] for plan in plans] == [Word.enqueued, Word.scheduled, Word.scheduled]
    assert run(command("LRANGE", q.ring, 0, 5)) == [lane]
    assert run(row(q, both))[b"group"] == lane
    assert run(due.promote(q, 10)) == 1
    assert run(get_job_state(q, later)).value is State.pending


def test_row_23_what_is_refused_takes_no_dedup_id(run, q, make, mint):
    known = make.pending()
    assert run(admission.enqueue_once(q, "d", HOUR, known.id, b"")) == (Word.duplicate, known.id)
    assert run(admission.enqueue_once(q, "d", HOUR, ORD, b"")) == (Word.kind, ORD)
    assert run(jobs.get_dedup_job_id(q, "d")) is None
    for dedup, ttl_ms in (("", 5), ("no spaces", 5), ("d", 0)):
        with pytest.raises(InvalidError):
            next(admission.enqueue_once(q, dedup, ttl_ms, mint(), b""))
