"""Workers that take jobs by the batch: when one goes, and whose verdict is whose."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from queue_core.bus import Bus
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys
from queue_core.verbs import claims, lanes, queues
from queue_core.work.backoff import fixed
from queue_core.work.serving import Policy
from queue_core.work.task import Task
from queue_core.work.verdicts import Dead, Done, Failed, Later
from tests.builders import HOUR, a_lane, command, raw, row
from tests.engine.manned import (
    KINDS,
    NEVER_MS,
    ONCE,
    Fill,
    Listed,
    Seen,
    done,
    manned,
    until,
)


@pytest.fixture(params=["threads", "tasks"])
def kind(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_backlog_goes_by_batches_of_at_most_the_largest_size(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    fill(25)
    with manned("batches", kind, server.url, q.name, seen, max_size=10) as made:
        until(done(bus, q, 25))
        assert seen.sizes == [10, 10, 5]
        assert seen.batches[0] == [b"%d" % n for n in range(10)]
        until(lambda: not made.loop.in_hand)
    assert made.drained


def test_a_batch_goes_when_enough_wait_and_is_heard_of(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    with manned(
        "batches", kind, server.url, q.name, seen, min_size=3, window_ms=NEVER_MS, poll_ms=1
    ):
        fill(2)
        fill(1)
        until(done(bus, q, 3))
        fill(2)
        until(lambda: bus.run(command("ZCARD", q.pending)) == 2)
        fill(1)
        until(done(bus, q, 6))
    assert seen.sizes == [3, 3]


def test_the_window_s_end_takes_what_there_is(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    fill(2)
    with manned("batches", kind, server.url, q.name, seen, min_size=500, window_ms=100):
        until(done(bus, q, 2))
        fill(1)
        until(done(bus, q, 3))
    assert seen.sizes == [2, 1]


def test_each_lane_is_a_batch_and_flat_jobs_are_another(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    full, small, bounded = a_lane(), a_lane(), a_lane()
    bus.run(lanes.limit(q, bounded, 2))
    fill(1, small)
    fill(3, full)
    fill(5, bounded)
    fill(3)
    with manned(
        "batches", kind, server.url, q.name, seen, min_size=3, window_ms=NEVER_MS, poll_ms=1,
        lanes=True,
    ):  # fmt: skip
        until(done(bus, q, 10))
        assert bus.run(command("ZCARD", q.lane(small))) == 1
        fill(2, small)  # its second and third job make no change of the ring, and are heard of
        until(done(bus, q, 13))
    flat = [b"0", b"1", b"2"]
    assert flat in seen.batches
    lanes_of = [set(batch) for batch in seen.batches if batch != flat]
    assert all(len(lane) == 1 for lane in lanes_of)
    # Its ceiling lets two go at once: that is full, and three are not waited for.
    assert [len(batch) for batch in seen.batches if batch[0] == bounded] == [2, 2]
    assert seen.batches[-1] == [small] * 3


def test_the_window_s_end_lets_every_lane_go_once(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    """More of them than one look sees into, and only one window's end."""
    for lane in [a_lane() for _ in range(80)]:
        fill(1, lane)
    options = {"min_size": 9, "window_ms": 1_000, "lanes": True}
    with manned("batches", kind, server.url, q.name, seen, **options) as made:
        until(done(bus, q, 80))
        assert made.loop._gathering._left == 0
    assert seen.sizes == [1] * 80


def test_without_lanes_only_flat_jobs_are_taken(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    lane = a_lane()
    fill(2, lane)
    fill(2)
    with manned("batches", kind, server.url, q.name, seen):
        until(done(bus, q, 2))
    assert bus.run(command("ZCARD", q.lane(lane))) == 2


# ---- rows of part 10 ---------------------------------------------------------------------------


def test_row_19_a_paused_queue_is_not_asked_again_and_again(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    """Paused, with more waiting than a batch needs: upstream spins on empty claims."""
    fill(5)
    bus.run(queues.pause(q))
    with manned("batches", kind, server.url, q.name, seen, min_size=2, window_ms=0, poll_ms=1):
        until(lambda: bus.run(command("ZCARD", q.workers)) == 1)
        with Listed(server, q) as listed:
            fill(1)  # heard of, looked at, and left
            until(lambda: listed.count("waiting") > 0)
        assert listed.count("claim") == 0
        assert not seen.batches
        bus.run(queues.resume(q))
        until(done(bus, q, 6))


def test_row_19_an_empty_claim_waits_longer_each_time(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    """What a look does not see: claims are held to a concurrency that others use up."""
    (held,) = fill(1)
    lease = bus.run(claims.claim(q, HOUR))
    assert lease is not None
    bus.run(command("HSET", q.meta, "py_enforce", "1", "concurrency", "1"))
    fill(5)
    with manned(
        "batches", kind, server.url, q.name, seen, poll_ms=20, beat_ms=200, window_ms=0
    ) as made:
        holds = made.loop._gathering
        until(lambda: holds._empty >= 5)
        assert holds._held_until - holds._looked_at >= 0.19  # a beat, after 20, 40, 80, 160 ms
        assert not seen.batches
        bus.run(command("HDEL", q.meta, "py_enforce"))
        until(done(bus, q, 5))
    assert bus.run(command("ZSCORE", q.active, held)) is not None


def test_row_20_a_bad_verdict_fails_its_member_only(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill
) -> None:
    class Untellable:
        def __str__(self) -> str:
            raise ValueError("no text")

    said = [None, Done(), Failed(Untellable()), Failed("\ud800"), 42, Later(10**40), Later(HOUR)]  # type: ignore[arg-type]
    ids = fill(len(said) + 1)

    def handler(tasks: Sequence[Task]) -> Any:
        return dict(zip(ids, said, strict=False))

    with manned("batches", kind, server.url, q.name, handler, policy=ONCE) as made:
        until(lambda: bus.run(command("ZCARD", q.dead)) == 5 and not made.loop.in_hand)
    rows = [bus.run(row(q, job_id)) for job_id in ids]
    assert rows[:2] == [{}, {}]
    assert [found.get(b"last_error", b"")[:12] for found in rows[2:]] == [
        b"bad verdict:", b"?", b"bad verdict:", b"bad verdict:", b"", b"missing verd",
    ]  # fmt: skip
    assert rows[6][b"state"] == b"scheduled"
    assert bus.run(command("ZCARD", q.active)) == 0


@pytest.mark.planted
def test_row_20_one_member_s_row_that_is_none_holds_up_no_other(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill
) -> None:
    broken, *others = fill(4)

    def handler(tasks: Sequence[Task]) -> dict[bytes, None]:
        bus.run(command("DEL", q.row(broken)))
        bus.run(command("SET", q.row(broken), "no row"))
        return dict.fromkeys(task.id for task in tasks)

    with manned("batches", kind, server.url, q.name, handler) as made:
        until(done(bus, q, len(others)))
        until(lambda: made.loop.in_hand == 1)
        bus.run(command("DEL", q.row(broken)))
        until(lambda: not made.loop.in_hand)


def test_row_46_events_follow_the_verdict_and_only_what_was_accepted(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill
) -> None:
    ids = fill(5)
    verdicts = dict(
        zip(ids, [Done(), Failed("no"), Later(HOUR), Dead("never"), Done()], strict=True)
    )

    def handler(tasks: Sequence[Task]) -> Any:
        bus.run(command("HSET", q.row(ids[4]), "attempts", 7))  # another's by now
        return verdicts

    heard = bus.listen([q.events])
    policy = Policy(fixed(HOUR), max_attempts=3)
    with manned("batches", kind, server.url, q.name, handler, policy=policy) as made:
        told = [json.loads(next(heard)[1]) for _ in range(4)]
        until(lambda: not made.loop.in_hand)
        bus.run(raw("PUBLISH", q.events, "end"))
        assert next(heard)[1] == b"end"
    heard.close()  # type: ignore[attr-defined]
    words = ["completed", "retried", "delayed", "failed"]
    assert {one["job"]: one["event"] for one in told} == {
        job_id.decode(): word for job_id, word in zip(ids, words, strict=False)
    }


@pytest.mark.parametrize(
    "answer", [ValueError("broken"), ["no mapping"], None], ids=["raised", "a list", "nothing"]
)
def test_a_handler_that_fails_fails_them_all(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, answer: Any
) -> None:
    fill(3)

    def handler(tasks: Sequence[Task]) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    with manned("batches", kind, server.url, q.name, handler, policy=ONCE):
        until(lambda: bus.run(command("ZCARD", q.dead)) == 3)
