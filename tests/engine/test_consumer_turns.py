"""A worker's turns: what it hears of, takes ahead, gives back and settles together."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.verbs import admission, claims, lanes, queues, settle
from queue_core.work.backoff import fixed
from queue_core.work.consumer import Consumer
from queue_core.work.pump import Pump
from queue_core.work.serving import Policy
from queue_core.work.task import Task
from queue_core.work.turns import Ahead
from queue_core.work.verdicts import Dead, Done, Failed, Later
from tests.builders import HOUR, Builder, Run, a_lane, command, raw, row
from tests.engine.manned import NEVER_MS, PATIENCE_S, threaded, until

serving = partial(threaded, beat_ms=NEVER_MS)


def idle(server: Embedded, bus: Bus) -> bool:
    """Whether a worker has set its watch and found nothing since."""
    clients = bus.run(raw("CLIENT", "LIST"))
    return any(b"flags=t" in line for line in clients.splitlines())


@pytest.fixture
def seen() -> list[bytes]:
    return []


@pytest.fixture
def worker(bus: Bus, q: QueueKeys, server: Embedded, seen: list[bytes]) -> Iterator[Consumer]:
    """A worker that rests and hears."""
    with serving(bus, q, lambda task: seen.append(task.payload), concurrency=2) as made:
        until(lambda: idle(server, bus))
        yield made


@pytest.mark.usefixtures("worker")
def test_an_idle_worker_hears_of_whatever_becomes_claimable(
    bus: Bus, q: QueueKeys, mint: Callable[[], bytes], seen: list[bytes]
) -> None:
    lane = a_lane()
    bus.run(admission.enqueue(q, mint(), b"flat"))
    until(lambda: seen == [b"flat"])
    bus.run(admission.lane_enqueue(q, lane, mint(), b"lane"))
    until(lambda: seen[1:] == [b"lane"])
    bus.run(queues.pause(q))
    bus.run(lanes.pause(q, lane))
    bus.run(admission.enqueue(q, mint(), b"resumed"))
    bus.run(admission.lane_enqueue(q, lane, mint(), b"unparked"))
    bus.run(queues.resume(q))
    until(lambda: seen[2:] == [b"resumed"])
    bus.run(lanes.resume(q, lane))
    until(lambda: seen[3:] == [b"unparked"])


def test_a_job_that_comes_due_is_heard_of_by_pump_and_worker(
    bus: Bus, q: QueueKeys, mint: Callable[[], bytes], seen: list[bytes], worker: Consumer
) -> None:
    pump = Pump(bus, [q], lambda: _minted(mint))
    pumping = threading.Thread(target=pump.run, daemon=True)
    pumping.start()
    try:
        bus.run(admission.enqueue_in(q, mint(), b"late", 400))
        bus.run(admission.enqueue_in(q, mint(), b"soon", 20))
        until(lambda: seen == [b"soon", b"late"])
    finally:
        pump.stop()
        pumping.join(PATIENCE_S)
    assert not pumping.is_alive()


def _minted(mint: Callable[[], bytes]) -> Any:
    return mint()
    yield


def test_row_17_where_nothing_is_told_lanes_wake_and_flat_jobs_wait_for_the_beat(
    server: Embedded, bus: Bus, q: QueueKeys, mint: Callable[[], bytes], seen: list[bytes]
) -> None:
    user = f"mute{q.name.decode()}"
    bus.run(raw("ACL", "SETUSER", user, "on", ">x", "~*", "&*", "+@all", "-client|tracking"))
    mute = connect(f"unix://{user}:x@{server.socket}?db=0")
    try:
        with serving(mute, q, lambda task: seen.append(task.payload), beat_ms=100) as made:
            bus.run(admission.lane_enqueue(q, a_lane(), mint(), b"lane"))
            until(lambda: seen == [b"lane"])
            bus.run(admission.enqueue(q, mint(), b"flat"))
            until(lambda: seen == [b"lane", b"flat"])
            until(lambda: not made.in_hand)
    finally:
        mute.close()
        bus.run(raw("ACL", "DELUSER", user))


def test_row_22_a_worker_hears_of_a_window_s_end_and_of_a_free_place(
    bus: Bus, q: QueueKeys, mint: Callable[[], bytes], seen: list[bytes]
) -> None:
    bus.run(queues.bound(q, rate=2, window_ms=100))
    bus.run(admission.enqueue_many(q, [(mint(), b"in turn") for _ in range(5)]))
    with serving(bus, q, lambda task: seen.append(task.payload), concurrency=4):
        until(lambda: len(seen) == 5)
        until(lambda: not bus.run(command("ZCARD", q.active)))
        theirs = b"JOB0NgWEfAEJfs"
        bus.run(command("ZADD", q.active, 10**13, theirs))
        bus.run(queues.bound(q, concurrency=1))
        bus.run(admission.enqueue(q, mint(), b"waits"))
        assert bus.run(command("ZCARD", q.pending)) == 1
        bus.run(command("ZREM", q.active, theirs))
        until(lambda: b"waits" in seen)


def test_row_01_ring_and_flat_pending_take_turns_whoever_has_more(
    bus: Bus, q: QueueKeys, mint: Callable[[], bytes], seen: list[bytes]
) -> None:
    lane = a_lane()
    for _ in range(60):
        bus.run(admission.enqueue(q, mint(), b"flat"))
    for _ in range(30):
        bus.run(admission.lane_enqueue(q, lane, mint(), b"lane"))
    with serving(bus, q, lambda task: seen.append(task.payload), ahead=0):
        until(lambda: len(seen) == 90)
    assert Counter(seen[:40]) == {b"flat": 20, b"lane": 20}


def test_quick_jobs_are_taken_ahead_and_given_back_where_none_begins_them(
    bus: Bus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    ids = [mint() for _ in range(60)]
    bus.run(admission.enqueue_many(q, [(job_id, b"") for job_id in ids]))
    blocked, go_on, done = threading.Event(), threading.Event(), []

    def handler(task: Task) -> None:
        if task.id == ids[20] and task.attempts == 1:
            blocked.set()
            go_on.wait(PATIENCE_S)
        done.append(task.id)

    with serving(bus, q, handler) as made:
        assert blocked.wait(PATIENCE_S)
        until(lambda: made.in_hand == 1)
        assert bus.run(command("ZCARD", q.pending)) == 39
        assert bus.run(command("ZCARD", q.active)) == 1
        go_on.set()
        until(lambda: len(done) == 60)
    assert sorted(done) == ids


def test_stop_gives_back_what_was_not_begun(
    bus: Bus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    ids = [mint() for _ in range(60)]
    blocked, go_on = threading.Event(), threading.Event()

    def handler(task: Task) -> None:
        if task.id == ids[20]:
            made.stop()
            blocked.set()
            go_on.wait(PATIENCE_S)

    with serving(bus, q, handler) as made:
        bus.run(admission.enqueue_many(q, [(job_id, b"") for job_id in ids]))
        assert blocked.wait(PATIENCE_S)
        until(lambda: made.in_hand == 1)
        go_on.set()
    assert bus.run(command("ZCARD", q.pending)) == 39
    assert bus.run(command("ZCARD", q.active)) == 0


def test_nothing_is_taken_ahead_until_handlers_were_quick() -> None:
    ahead = Ahead(2, most=5)
    assert ahead.room == 0
    for _ in range(8):
        ahead.ran(0.1)
    assert ahead.room == 5
    for _ in range(40):
        ahead.ran(500)
    assert ahead.room == 0
    ahead.forget()
    assert ahead.room == 0


def test_row_14_a_job_that_was_tried_is_never_taken_ahead(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    first, tried, behind = (make.pending() for _ in range(3))
    run(command("HSET", q.row(tried.id), "attempts", 1))
    taken = run(claims.claim_next(q, 3, HOUR, sure=1))
    assert [lease.id for lease in taken] == [first.id]
    assert run(claims.claim_next(q, 3, HOUR, sure=0)) == []
    taken = run(claims.claim_next(q, 3, HOUR, sure=1))
    assert [lease.id for lease in taken] == [tried.id, behind.id]


def test_row_14_a_lane_whose_job_was_tried_keeps_its_turn(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    jobs = [make.in_lane() for _ in range(3)]
    run(command("HSET", q.row(jobs[1].id), "attempts", 1))
    taken = run(claims.claim_next(q, 3, HOUR, sure=1, ring_first=True))
    assert [lease.id for lease in taken] == [jobs[0].id]
    taken = run(claims.claim_next(q, 3, HOUR, sure=1, ring_first=True))
    assert [(lease.id, lease.group) for lease in taken] == [
        (jobs[1].id, jobs[1].group), (jobs[2].id, jobs[2].group),
    ]  # fmt: skip
    assert run(command("LLEN", q.ring)) == 0


def test_a_claim_of_both_sets_keeps_ceilings_weights_and_rooms(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    heavy, light = a_lane(), a_lane()
    for lane in (heavy, light):
        for _ in range(4):
            make.in_lane(lane)
    run(lanes.weight(q, heavy, 3))
    run(lanes.limit(q, light, 1))
    make.pending()
    taken = run(claims.claim_next(q, 5, HOUR, ring_first=True, weighted=True))
    assert [lease.group for lease in taken] == [heavy, heavy, heavy, light, heavy]
    assert [lease.group for lease in run(claims.claim_next(q, 5, HOUR))] == [None]
    assert run(claims.claim_next(q, 5, HOUR)) == []
    run(queues.pause(q))
    make.pending()
    assert run(claims.claim_next(q, 5, HOUR)) == []


def test_one_row_that_cannot_be_settled_holds_up_no_other(
    bus: Bus, q: QueueKeys, mint: Callable[[], bytes], seen: list[bytes]
) -> None:
    broken = mint()

    def handler(task: Task) -> None:
        if task.id == broken:
            bus.run(command("DEL", q.row(broken)))
            bus.run(command("SET", q.row(broken), "no row"))
        seen.append(task.id)

    bus.run(admission.enqueue(q, broken, b""))
    with serving(bus, q, handler) as made:
        until(lambda: seen == [broken])
        bus.run(admission.enqueue(q, mint(), b""))
        until(lambda: len(seen) == 2 and made.in_hand == 1)
        bus.run(command("DEL", q.row(broken)))
        until(lambda: made.in_hand == 0)


def test_row_47_every_verdict_is_carried_out_in_one_turn_and_told(
    bus: Bus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    heard = bus.listen([q.events])
    ids = dict(zip("abcd", (mint() for _ in range(4)), strict=True))
    verdict = {
        ids["a"]: Done(), ids["b"]: Failed("no"), ids["c"]: Later(HOUR), ids["d"]: Dead("never"),
    }  # fmt: skip
    bus.run(admission.enqueue_many(q, [(job_id, b"") for job_id in ids.values()]))
    policy = Policy(fixed(HOUR), max_attempts=3)
    with serving(bus, q, lambda task: verdict[task.id], concurrency=4, policy=policy):
        told = sorted(next(heard)[1] for _ in range(4))
    heard.close()  # type: ignore[attr-defined]
    words = {"a": "completed", "b": "retried", "c": "delayed", "d": "failed"}
    expected = (f'{{"event":"{words[n]}","job":"{ids[n].decode()}"}}' for n in "abcd")
    assert told == sorted(text.encode() for text in expected)
    states = {n: bus.run(row(q, ids[n])).get(b"state") for n in "abcd"}
    assert states == {"a": None, "b": b"scheduled", "c": b"scheduled", "d": b"dead"}


def test_give_back_is_fenced_and_for_the_held_only(run: Run, q: QueueKeys, make: Builder) -> None:
    lane = a_lane()
    job = make.active(lane)
    assert run(settle.give_back(q, job.id, b"9")) is Word.stale
    assert run(settle.give_back(q, job.id, job.token)) is Word.ok
    assert run(settle.give_back(q, job.id, job.token)) is Word.gone
    assert run(settle.give_back(q, make.mint(), b"1")) is Word.gone
    (again,) = run(claims.claim_next(q, 5, HOUR))
    assert (again.id, again.group, again.attempts) == (job.id, lane, 2)
    assert run(command("HGET", q.gactive, lane)) == b"1"


def scripts_so_far(bus: Bus) -> tuple[int, int]:
    """How many calls of scripts that write and of such that read the server has had."""
    text = bus.run(raw("INFO", "commandstats"))
    counts = dict.fromkeys((b"cmdstat_evalsha:", b"cmdstat_evalsha_ro:"), 0)
    for line in text.splitlines():
        for name in counts:
            if line.startswith(name):
                counts[name] = int(line.split(b"calls=")[1].split(b",")[0])
    writing, reading = counts.values()
    return writing, reading


@pytest.mark.usefixtures("worker")
def test_an_idle_worker_takes_a_job_in_one_claim_and_looks_once(
    bus: Bus, q: QueueKeys, mint: Callable[[], bytes], seen: list[bytes]
) -> None:
    jobs, beats = 20, 4
    before = scripts_so_far(bus)
    for n in range(jobs):
        bus.run(admission.enqueue(q, mint(), b"%d" % n))
        until(lambda: len(seen) > n)  # noqa: B023 (awaited within the turn)
    until(lambda: not bus.run(command("ZCARD", q.active)))
    writing, reading = (now - then for now, then in zip(scripts_so_far(bus), before, strict=True))
    assert writing <= 3 * jobs + beats  # admitted, claimed, settled
    assert reading <= jobs + beats
