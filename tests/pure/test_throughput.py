"""Rates from samples: unknown where nobody looked, never zero."""

from dataclasses import replace

import pytest

from echomq_admin.charts.throughput import Rate, between, buckets, latest, spark, total
from queue_core.reads.sample import Sample

EMPTY = Sample(
    pending=0, active=0, schedule=0, dead=0, completed=0, failed=0, in_lanes=0, lanes=0,
    lanes_at_limit=0, lanes_complete=True, ring=0, paused=False, concurrency=None, max=None,
    pending_head=None, lane_head=None, oldest_ms=None, late=0, worst_due=None, next_due=None,
    fence=(), repeats=0, next_repeat=None, workers=0, silent=0, last_heard_ms=None,
    faults=(), refused=(),
)  # fmt: skip


def at(second: int, completed: int | None, pending: int = 0, **more: object) -> tuple[int, Sample]:
    return second * 1000, replace(EMPTY, completed=completed, pending=pending, **more)


def test_in_is_out_and_the_change_of_what_is_held():
    assert between(at(0, 100, 10), at(10, 150, 30)) == Rate(came=7.0, went=5.0)


@pytest.mark.parametrize(
    ("newer", "rate"),
    [
        (at(60, 150), Rate(None, None)),  # nobody watched for a minute
        (at(10, None), Rate(None, None)),
        (at(10, 90), Rate(None, None)),  # the counter was deleted
        (at(10, 150, lanes_complete=False), Rate(None, 5.0)),
        (at(10, 110, 0), Rate(None, 1.0)),  # forty were removed, so nobody can tell
    ],
    ids=["hole", "unreadable", "reset", "lower bound", "removed"],
)
def test_what_cannot_be_told_is_unknown(newer, rate):
    assert between(at(0, 100, 50), newer) == rate


def test_latest_looks_back_ten_seconds_and_not_over_a_hole():
    history = [at(0, 0), at(100, 500), at(105, 510), at(110, 530)]
    assert latest(history) == Rate(3.0, 3.0)
    assert latest(history[:2]) == Rate(None, None)
    assert latest(history[:1]) == Rate(None, None)
    assert latest([]) == Rate(None, None)


def test_buckets_hold_holes():
    history = [at(0, 0), at(5, 10), at(10, 20), at(40, 90), at(45, 95)]
    rates = buckets(history, now_ms=50_000, count=10, step_ms=5_000)
    assert [rate.went for rate in rates] == [2, 2, None, None, None, None, None, None, 1, None]


def test_a_total_is_unknown_while_a_part_is():
    assert total([Rate(1, 2), Rate(3, 4)]) == Rate(4, 6)
    assert total([Rate(1, 2), Rate(None, 4)]) == Rate(None, 6)
    assert total([]) == Rate(None, None)


def test_a_spark_draws_nothing_for_zero_and_dashes_for_unknown():
    drawn = spark([Rate(1, 1), Rate(0, 0), Rate(None, None)], 60, 20)
    assert (drawn.came.count("M"), drawn.went.count("M")) == (1, 1)
    assert (drawn.line.count("M"), drawn.holes.count("M")) == (2, 1)
