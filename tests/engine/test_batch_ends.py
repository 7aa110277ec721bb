"""Workers that take jobs by the batch: leases, limits, presence, trouble and ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys
from queue_core.verbs import admission, claims, due
from queue_core.work.batch_consumer import BatchConsumer
from queue_core.work.task import Task
from tests.builders import HOUR, a_lane, command, raw, row
from tests.engine.manned import (
    KINDS,
    ONCE,
    PATIENCE_S,
    Fill,
    Listed,
    Manned,
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
def test_a_handler_over_its_time_fails_its_batch_and_the_next_goes_on(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill
) -> None:
    ids = fill(2)
    told: list[int] = []

    def handler(tasks: Sequence[Task]) -> dict[bytes, None]:
        if not told:
            told.append(len(tasks))
            until(lambda: all(task.lost for task in tasks))  # told, and a thread comes to an end
            told.append(sum(task.cancel.check() == "timeout" for task in tasks))
        return dict.fromkeys(task.id for task in tasks)

    with manned("batches", kind, server.url, q.name, handler, timeout_ms=100, policy=ONCE):
        until(lambda: bus.run(command("ZCARD", q.dead)) == 2)
        assert bus.run(row(q, ids[1]))[b"last_error"] == b"timed out after 100 ms"
        fill(1)
        until(done(bus, q, 1))
        until(lambda: told == [2, 2])


def test_members_leases_are_extended_and_a_lost_one_is_told(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill
) -> None:
    ids = fill(3)
    told: list[list[bool]] = []

    def handler(tasks: Sequence[Task]) -> dict[bytes, None]:
        before = bus.run(command("ZSCORE", q.active, ids[0]))
        until(lambda: bus.run(command("ZSCORE", q.active, ids[0])) != before)
        bus.run(command("ZADD", q.active, 1, ids[1]))
        bus.run(due.reap(q))
        assert bus.run(claims.claim(q, HOUR)) is not None
        until(lambda: tasks[1].lost)
        told.append([task.lost for task in tasks])
        return dict.fromkeys(task.id for task in tasks)

    with manned("batches", kind, server.url, q.name, handler, lease_ms=300) as made:
        until(lambda: told and not made.loop.in_hand)
    assert told == [[False, True, False]]
    assert bus.run(command("ZRANGE", q.active, 0, 9)) == [ids[1]]  # the other one's
    assert done(bus, q, 2)()


def test_presence_tells_of_members_and_of_quiet_and_leaves(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    with manned("batches", kind, server.url, q.name, seen, lease_ms=150) as made:
        words = q.worker(made.loop.worker)
        fill(7)
        until(lambda: runs(bus, words) == 7)
        made.tell(made.loop.quiet)
        until(lambda: bus.run(command("HGET", words, "quiet")) == b"1")
        fill(1)
        until(lambda: bus.run(command("ZCARD", q.pending)) == 1)
        made.tell(made.loop.quiet, False)
        until(done(bus, q, 8))
    assert not bus.run(command("EXISTS", words, q.workers))


def runs(bus: Bus, words: bytes) -> int:
    said = bus.run(command("HGETALL", words))
    pairs = zip(said[::2], said[1::2], strict=True)
    return sum(int(count) for field, count in pairs if field.startswith(b"run:"))


def test_what_is_in_hand_is_settled_before_the_end_or_named(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill
) -> None:
    begun, go = threading.Event(), threading.Event()

    def handler(tasks: Sequence[Task]) -> dict[bytes, None]:
        begun.set()
        go.wait(PATIENCE_S)
        return dict.fromkeys(task.id for task in tasks)

    def ended(drain_s: float, let: bool) -> bool | None:
        begun.clear()
        fill(2)
        made = Manned("batches", kind, server.url, q.name, handler, drain_s=drain_s).start()
        assert begun.wait(PATIENCE_S)
        made.tell(made.loop.stop)
        until(lambda: not made._thread.is_alive() or made.loop._stopping.is_set())
        if let:
            go.set()
        elif kind == "tasks":  # the run of an event loop waits for the threads it began
            until(lambda: made.drained is not None)
            threading.Timer(0.05, go.set).start()
        return made.end()

    assert not ended(0.05, let=False)
    go.clear()
    assert bus.run(command("ZCARD", q.active)) == 2
    assert ended(PATIENCE_S, let=True)
    assert done(bus, q, 2)()


def test_a_batch_that_comes_after_stop_is_given_back(
    bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    fill(3)
    worker = BatchConsumer(bus, q.name, seen)
    worker.stop()
    worker._take(1.0)  # stop came while the claim was under way
    assert bus.run(command("ZCARD", q.pending)) == 3
    assert worker.run()
    assert not seen.batches


def test_row_43_a_server_that_goes_away_ends_no_loop(
    kind: str, tmp_path: Path, q: QueueKeys, mint: Callable[[], bytes], caplog: Any
) -> None:
    server = Embedded(tmp_path).start()
    mine = connect(server.url)
    begun, go = threading.Event(), threading.Event()

    def handler(tasks: Sequence[Task]) -> dict[bytes, None]:
        begun.set()
        go.wait(PATIENCE_S)
        return dict.fromkeys(task.id for task in tasks)

    try:
        mine.run(admission.enqueue_many(q, [(mint(), b"") for _ in range(5)]))
        with manned("batches", kind, server.url, q.name, handler, min_size=2) as made:
            assert begun.wait(PATIENCE_S)
            server.kill()
            go.set()  # the verdicts meet a server that is away
            until(lambda: made.loop.faults > 0)
            server.start()
            until(done(mine, q, 5))
            mine.run(admission.enqueue_many(q, [(mint(), b"") for _ in range(2)]))
            until(done(mine, q, 7))
            until(lambda: not made.loop.in_hand)
            until(lambda: "the bus serves again" in caplog.text)  # the next beat may be the last
        assert made.drained
    finally:
        mine.close()
        server.kill()


def test_where_the_server_does_not_tell_it_looks_by_the_beat(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    user = f"mute{q.name.decode()}"
    bus.run(raw("ACL", "SETUSER", user, "on", ">x", "~*", "&*", "+@all", "-client|tracking"))
    url = server.url.replace("unix://", f"unix://{user}:x@")
    try:
        with manned("batches", kind, url, q.name, seen, beat_ms=50, lanes=True) as made:
            until(lambda: not made.loop._watches[0].tracks)
            fill(2)
            until(done(bus, q, 2))
            fill(2, a_lane())
            until(done(bus, q, 4))
    finally:
        bus.run(raw("ACL", "DELUSER", user))


def test_an_idle_worker_asks_for_less_than_two_commands_a_second(
    kind: str, server: Embedded, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    """One job too few for a batch, an hour of the window left: it is looked at and left alone."""
    fill(1)
    options = {"min_size": 2, "window_ms": HOUR, "beat_ms": 1_000, "lease_ms": 150}
    with manned("batches", kind, server.url, q.name, seen, **options) as made:
        holds = made.loop._gathering
        until(lambda: holds.look_at > 0)
        assert holds.look_at - holds._looked_at >= 4.9
        with Listed(server, q) as listed:
            until(lambda: listed.count("heartbeat") >= 10)  # a stroke every 50 ms; else every 4 s
            assert listed.count("waiting") + listed.count("claim") <= 1


@pytest.mark.parametrize(
    "wrong", [{"min_size": 0}, {"max_size": 1_001}, {"min_size": 5, "max_size": 4}, {"poll_ms": 0}]
)
def test_sizes_out_of_range_are_refused(bus: Bus, q: QueueKeys, wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidError):
        BatchConsumer(bus, q.name, lambda _tasks: {}, **wrong)  # type: ignore[arg-type]
