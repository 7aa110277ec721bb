"""The look at a queue: true, bounded, and unknown rather than zero."""

import sys

import pytest

from queue_core import ids
from queue_core.bus import Bus
from queue_core.keys import QueueKeys
from queue_core.reads.sample import FENCE_EDGES_MS, LANE_WINDOW, LATE_BUCKETS, PARKED_SCORE, sample
from queue_core.verbs import admission, claims, lanes, queues
from tests.builders import HOUR, Builder, Run, command, server_ms


def test_a_queue_that_holds_nothing_is_all_zeros(run: Run, q: QueueKeys) -> None:
    seen = run(sample(q))
    assert seen.complete
    assert seen.value.empty
    assert seen.value.held == 0
    assert seen.value.oldest_ms is None
    assert seen.value.next_repeat is None


def test_the_six_counts_and_the_lanes_beside_them(run: Run, q: QueueKeys, make: Builder) -> None:
    for _ in range(3):
        run(admission.enqueue(q, make.mint(), b"x"))
    run(admission.enqueue_in(q, make.mint(), b"x", HOUR))
    lane = ids.encode("PRT", 7)
    run(admission.lane_enqueue(q, lane, make.mint(), b"x"))
    run(admission.lane_enqueue(q, lane, make.mint(), b"x"))
    run(claims.claim(q, 30_000))
    value = run(sample(q)).value
    assert (value.pending, value.active, value.schedule, value.dead) == (2, 1, 1, 0)
    assert (value.in_lanes, value.lanes, value.lanes_complete) == (2, 1, True)
    assert value.waiting == 4
    assert value.held == 6
    assert (value.completed, value.failed) == (0, 0)


def test_the_oldest_is_told_by_the_head_of_pending_and_of_lanes(run: Run, q: QueueKeys) -> None:
    old, older = (
        ids.encode("JOB", ids.min_for(ms)) for ms in (1_790_000_000_000, 1_780_000_000_000)
    )
    run(admission.enqueue(q, old, b"x"))
    run(admission.lane_enqueue(q, ids.encode("PRT", 1), older, b"x"))
    value = run(sample(q)).value
    assert value.oldest_ms == 1_780_000_000_000
    assert (value.pending_head, value.lane_head) == (old, older)


def test_an_id_that_tells_no_time_leaves_the_age_unknown(run: Run, q: QueueKeys) -> None:
    run(command("ZADD", q.pending, 0, b"123"))
    value = run(sample(q)).value
    assert value.pending == 1
    assert value.oldest_ms is None


def test_lateness_is_by_the_servers_clock(run: Run, q: QueueKeys) -> None:
    now = run(server_ms())
    for shift in (-30_000, -2_000, 3_000, 90_000):
        run(command("ZADD", q.schedule, now + shift, f"JOB{shift}"))
    value = run(sample(q)).value
    assert value.late == 2
    assert value.worst_due == now - 30_000
    assert value.next_due == now + 3_000
    assert sum(value.fence) == 4
    assert sum(value.fence[:LATE_BUCKETS]) == 2
    assert len(value.fence) == len(FENCE_EDGES_MS) + 1


@pytest.mark.parametrize("score", ["-inf", "-9e15", "-1", "inf", "9e15"])
def test_case_50_extreme_scores_are_counted(run: Run, q: QueueKeys, score: str) -> None:
    run(command("ZADD", q.schedule, score, b"JOBx"))
    value = run(sample(q)).value
    assert sum(value.fence) == 1
    assert value.late == (1 if score.startswith("-") else 0)


def test_pause_workers_repeats_and_limits(run: Run, q: QueueKeys, make: Builder) -> None:
    now = run(server_ms())
    run(queues.pause(q))
    lost = now - 20_000
    run(command("ZADD", q.workers, now, b"alive", lost, b"lost", now - HOUR, b"gone"))
    run(command("ZADD", q.repeat, now + 5000, b"digest", PARKED_SCORE, b"parked"))
    lane = ids.encode("PRT", 3)
    run(lanes.limit(q, lane, 1))
    for _ in range(2):
        run(admission.lane_enqueue(q, lane, make.mint(), b"x"))
    run(queues.resume(q))
    run(claims.lane_claim(q, 30_000))
    run(queues.pause(q))
    value = run(sample(q)).value
    assert value.paused is True
    assert (value.workers, value.silent, value.last_heard_ms) == (1, 1, lost)
    assert value.repeats == 2
    assert value.next_repeat == (b"digest", now + 5000)
    assert (value.lanes_at_limit, value.in_lanes) == (1, 1)


def test_looking_on_leaves_nothing_behind(bus: Bus, q: QueueKeys, make: Builder) -> None:
    """No memory of each look: not in what is kept, and not in what the interpreter keeps of
    tuples that grew as they were made."""
    make.pending(), make.scheduled(), make.scheduled()

    def looked(times: int) -> int:
        for _ in range(times):
            bus.run(sample(q))
        return sys.getallocatedblocks()

    before = looked(50)
    assert looked(300) - before < 150


def test_a_parked_repeat_is_no_next_run(run: Run, q: QueueKeys) -> None:
    run(command("ZADD", q.repeat, PARKED_SCORE, b"parked"))
    value = run(sample(q)).value
    assert (value.repeats, value.next_repeat) == (1, None)


def test_case_2_many_lanes_are_read_in_a_window_and_said_to_be(bus: Bus, q: QueueKeys) -> None:
    many = [ids.encode("PRT", number) for number in range(LANE_WINDOW * 3)]
    bus.run(command("RPUSH", q.ring, *many))
    for lane in many[:5]:
        bus.run(command("ZADD", q.lane(lane), 0, b"JOBx"))
    seen = bus.run(sample(q))
    assert seen.value.in_lanes == 5
    assert seen.value.lanes == len(many)
    assert not seen.value.lanes_complete
    assert not seen.complete
    assert str(LANE_WINDOW) in seen.why
    assert seen.value.held is None


def test_case_36_a_key_of_another_type_spoils_only_its_own_numbers(run: Run, q: QueueKeys) -> None:
    run(command("SET", q.schedule, b"x"))
    run(command("SET", q.ring, b"x"))
    run(command("ZADD", q.pending, 0, b"JOBx"))
    seen = run(sample(q))
    assert seen.value.pending == 1
    assert seen.value.schedule is None
    assert seen.value.late is None
    assert seen.value.in_lanes is None
    assert {(fault.part, fault.kind) for fault in seen.value.faults} == {
        ("schedule", "wrong-type"),
        ("ring", "wrong-type"),
    }
    assert not seen.complete
    assert "another type" in seen.why


def test_a_counter_that_is_no_number_is_unknown(run: Run, q: QueueKeys) -> None:
    run(command("HSET", q.metrics_completed, "count", "weird"))
    value = run(sample(q)).value
    assert value.completed is None
    assert value.failed == 0
