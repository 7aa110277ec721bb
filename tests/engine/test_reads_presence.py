"""Who works: heartbeats, what each says of itself, and percentiles where there is enough."""

from collections import Counter

import pytest

from queue_core.reads.presence import ENOUGH, Percentiles, percentiles, workers
from tests.builders import command, server_ms
from tests.engine.test_cost import cost


def test_nobody(run, q):
    crew = run(workers(q)).value
    assert (crew.total, crew.alive, crew.workers) == (0, 0, ())


def test_the_last_heard_of_come_first_and_the_silent_are_stale(run, q):
    now = run(server_ms())
    run(command("ZADD", q.workers, now, b"here", now - 3_600_000, b"lost"))
    run(command("HSET", q.worker(b"here"), "host", "a", "pid", 7, "concurrency", 4, "in_hand", 2))
    seen = run(workers(q))
    here, lost = seen.value.workers
    assert (here.id, here.host, here.pid, here.concurrency, here.in_hand) == (
        b"here",
        b"a",
        7,
        4,
        2,
    )
    assert (here.stale(seen.at_ms), lost.stale(seen.at_ms)) == (False, True)
    assert (lost.id, lost.said, lost.pid) == (b"lost", {}, None)
    assert (seen.value.total, seen.value.alive) == (2, 1)


def test_hostile_words_break_nothing(run, q):
    run(command("ZADD", q.workers, "inf", b"\xff"))
    run(command("HSET", q.worker(b"\xff"), "pid", "many", "host", b"\x00\xff", "quiet", "?"))
    run(command("SET", q.worker(b"other"), "no hash"))
    run(command("ZADD", q.workers, 1, b"other"))
    first, second = run(workers(q)).value.workers
    assert (first.heard_ms, first.pid, first.host, first.quiet) == (None, None, b"\x00\xff", False)
    assert (second.id, second.said) == (b"other", {})


def test_many_workers_are_read_to_a_bound(run, q):
    words = [word for at in range(1000) for word in (at, b"w%04d" % at)]
    run(command("ZADD", q.workers, *words))
    run(workers(q, 50))
    trips, commands = cost(run, workers(q, 50))
    assert trips == 1
    assert commands <= 50 * 3 + 10
    seen = run(workers(q, 50))
    assert (len(seen.value.workers), seen.value.total, seen.complete) == (50, 1000, False)


@pytest.mark.parametrize("samples", [0, 1, 2, ENOUGH - 1])
def test_case_116_few_samples_make_no_percentile(samples):
    """Case 116."""
    assert percentiles(Counter({4: samples})) == Percentiles(samples, None, None, None)


def test_percentiles_are_the_upper_edges_of_their_buckets():
    found = percentiles(Counter({3: 50, 5: 45, 10: 5}))
    assert found == Percentiles(100, 8, 32, 1024)
