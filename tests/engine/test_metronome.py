"""A worker of many queues: rounds, standing backlogs, fairness, connections, and how it ends."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys, queue
from queue_core.verbs import admission, queues
from queue_core.work.task import Task
from queue_core.work.verdicts import Dead, Failed, Later
from tests.builders import HOUR, a_lane, command, raw, row
from tests.engine.manned import KINDS, ONCE, PATIENCE_S, Listed, admit, done, manned, until


@pytest.fixture(params=["threads", "tasks"])
def kind(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def qs(q: QueueKeys) -> list[QueueKeys]:
    """Three queues of this test's own."""
    return [queue(b"%s.%d" % (q.name, n)) for n in range(3)]


class Seen:
    """A handler that notes the payloads of each queue, in order."""

    def __init__(self) -> None:
        self.order: list[tuple[bytes, bytes]] = []

    def __call__(self, task: Task) -> None:
        self.order.append((task.queue, task.payload))

    def of(self, q: QueueKeys) -> list[bytes]:
        return [payload for name, payload in self.order if name == q.name]


@pytest.fixture
def seen() -> Seen:
    return Seen()


Fill = Callable[..., list[bytes]]


@pytest.fixture
def fill(bus: Bus, mint: Callable[[], bytes]) -> Fill:
    """Admits so many jobs to a queue; into a lane, where one is named."""
    return partial(admit, bus, mint)


def for_all(qs: list[QueueKeys], handler: Callable[[Task], Any]) -> dict[bytes, Any]:
    return {q.name: handler for q in qs}


@pytest.mark.parametrize("kind", KINDS)
def test_several_queues_each_with_its_own_handler(
    kind: str, server: Embedded, bus: Bus, qs: list[QueueKeys], fill: Fill
) -> None:
    seen = [Seen() for _ in qs]
    handlers = {q.name: one for q, one in zip(qs, seen, strict=True)}
    lane = a_lane()
    for q in qs:
        fill(q, 5)
        fill(q, 5, lane)
    with manned("metronome", kind, server.url, handlers) as made:
        for q, one in zip(qs, seen, strict=True):
            until(done(bus, q, 10))
            assert sorted(one.of(q)) == sorted([b"%d" % n for n in range(5)] + [lane] * 5)
            assert len(one.order) == 10
        until(lambda: not made.loop.in_hand)
    assert made.drained


def test_row_01_ring_and_flat_pending_take_turns(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    lane = a_lane()
    fill(q, 60)
    fill(q, 30, lane)
    with manned("metronome", kind, server.url, {q.name: seen}, workers=1):
        until(done(bus, q, 90))
    assert seen.of(q)[:40].count(lane) == 20


def test_row_16_an_empty_lane_at_the_head_parks_nobody(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    fill(q, 3, a_lane())
    for _ in range(3):
        bus.run(command("LPUSH", q.ring, a_lane()))
    with manned("metronome", kind, server.url, {q.name: seen}):
        until(done(bus, q, 3))


def test_row_17_a_second_job_of_a_lane_in_the_ring_and_a_flat_one_wake_nobody_and_are_heard_of(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    lane = a_lane()
    with manned("metronome", kind, server.url, {q.name: seen}, workers=2) as made:
        station = made.loop._rounds.stations[0]
        for many, of in enumerate([lane, lane, None], 1):
            until(lambda: station.dry)
            fill(q, 1, of)
            bus.run(command("DEL", q.wake))
            until(done(bus, q, many))


# ---- row 18: the bad outcome is that each worker gets about one job a beat ----------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("in_lanes", [False, True], ids=["flat", "lane"])
def test_row_18_a_standing_backlog_needs_no_wake_and_no_beat(
    kind: str, in_lanes: bool, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    """The beat never comes, and nothing is enqueued any more that could wake anybody."""
    lane = a_lane() if in_lanes else None
    fill(q, 100, lane)
    bus.run(command("DEL", q.wake))
    with manned("metronome", kind, server.url, {q.name: seen}, workers=4):
        until(done(bus, q, 100))
    assert len(seen.of(q)) == 100


def test_row_18_one_claim_a_round_for_all_who_are_idle(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill
) -> None:
    """Four idle hands take four jobs in one claim, and no more than they can begin."""
    all_here = threading.Barrier(4)
    fill(q, 40)

    def handler(_task: Task) -> None:
        all_here.wait(PATIENCE_S)

    with Listed(server, q) as listed:
        with manned("metronome", kind, server.url, {q.name: handler}, workers=4) as made:
            until(done(bus, q, 40))
            assert made.loop.in_hand <= 4
        # Ten rounds of four at the best; a hand that ends alone may be served alone.
        assert listed.count("claim_next") <= 42


def test_row_18_a_standing_backlog_starves_no_other_queue(
    kind: str, server: Embedded, bus: Bus, qs: list[QueueKeys], fill: Fill, seen: Seen
) -> None:
    fill(qs[0], 200)
    fill(qs[1], 20)
    fill(qs[2], 20, a_lane())
    with manned("metronome", kind, server.url, for_all(qs, seen), workers=2):
        for q, many in zip(qs, (200, 20, 20), strict=True):
            until(done(bus, q, many))
    first = Counter(name for name, _ in seen.order[:60])
    assert min(first[q.name] for q in qs) >= 15


def test_jobs_of_one_queue_are_begun_in_their_order(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill, seen: Seen
) -> None:
    fill(q, 50)
    with manned("metronome", kind, server.url, {q.name: seen}, workers=1):
        until(done(bus, q, 50))
    assert seen.of(q) == [b"%d" % n for n in range(50)]


# ---- idle --------------------------------------------------------------------------------------


def test_an_idle_metronome_hears_of_work_in_any_of_its_queues(
    kind: str, server: Embedded, bus: Bus, qs: list[QueueKeys], fill: Fill, seen: Seen
) -> None:
    with manned("metronome", kind, server.url, for_all(qs, seen)) as made:
        stations = made.loop._rounds.stations
        for many in (1, 2, 3):
            for q in qs:
                until(lambda: all(station.dry for station in stations))
                fill(q, 1, a_lane() if many == 2 else None)
                until(done(bus, q, many))
        bus.run(queues.pause(qs[0]))
        fill(qs[0], 1)
        bus.run(queues.resume(qs[0]))
        until(done(bus, qs[0], 4))


def lines(bus: Bus) -> list[bytes]:
    """The server's connections, but the one that asks."""
    return [
        line for line in bus.run(raw("CLIENT", "LIST")).splitlines() if b"cmd=client" not in line
    ]


def test_one_waiting_line_a_queue_and_two_beside_however_many_work(
    kind: str, tmp_path: Path, qs: list[QueueKeys], mint: Callable[[], bytes]
) -> None:
    server = Embedded(tmp_path).start()
    mine = connect(server.url)
    seen = Seen()
    try:
        with manned("metronome", kind, server.url, for_all(qs, seen), workers=16) as made:
            for _ in range(20):
                mine.run(admission.enqueue_many(qs[0], [(mint(), b"") for _ in range(30)]))
            until(done(mine, qs[0], 600))
            until(lambda: all(station.dry for station in made.loop._rounds.stations))
            waiting = [line for line in lines(mine) if b"flags=t" in line]
            assert len(waiting) == len(qs)
            assert len(lines(mine)) - len(waiting) <= 2
    finally:
        mine.close()
        server.kill()


def test_an_idle_metronome_asks_for_less_than_two_commands_a_second_and_queue(
    kind: str, server: Embedded, qs: list[QueueKeys], seen: Seen
) -> None:
    options = {"beat_ms": 1_000, "lease_ms": 150}
    with manned("metronome", kind, server.url, for_all(qs, seen), **options) as made:
        stations = made.loop._rounds.stations
        until(lambda: all(station.dry for station in stations))
        with Listed(server, qs[0]) as listed:
            until(lambda: listed.count("heartbeat") >= 10)  # a stroke every 50 ms; else every 4 s
            # A look every five beats, where nothing is heard.
            assert listed.count("waiting") + listed.count("claim") <= 1


def test_where_the_server_does_not_tell_each_queue_waits_for_its_wake(
    kind: str, server: Embedded, bus: Bus, qs: list[QueueKeys], fill: Fill, seen: Seen
) -> None:
    user = f"mute{qs[0].name.decode()}"
    bus.run(raw("ACL", "SETUSER", user, "on", ">x", "~*", "&*", "+@all", "-client|tracking"))
    url = server.url.replace("unix://", f"unix://{user}:x@")
    try:
        with manned("metronome", kind, url, for_all(qs, seen), beat_ms=100):
            for q in qs:
                fill(q, 2, a_lane())
                until(done(bus, q, 2))
                fill(q, 2)
                until(done(bus, q, 4))
    finally:
        bus.run(raw("ACL", "DELUSER", user))


# ---- bounds, verdicts, ends --------------------------------------------------------------------


def test_a_queue_with_slow_jobs_leaves_hands_for_the_others(
    kind: str, server: Embedded, bus: Bus, qs: list[QueueKeys], fill: Fill, seen: Seen
) -> None:
    go = threading.Event()
    handlers = {**for_all(qs, seen), qs[0].name: lambda _task: go.wait(PATIENCE_S) and None}
    fill(qs[0], 5)
    with manned("metronome", kind, server.url, handlers, workers=3, most=2):
        until(lambda: bus.run(command("ZCARD", qs[0].active)) == 2)
        fill(qs[1], 10)
        until(done(bus, qs[1], 10))
        assert bus.run(command("ZCARD", qs[0].active)) == 2
        go.set()
        until(done(bus, qs[0], 5))


def test_verdicts_are_carried_out_and_a_hanging_handler_fails(
    kind: str, server: Embedded, bus: Bus, qs: list[QueueKeys], fill: Fill
) -> None:
    def raising(_task: Task) -> None:
        raise ValueError("broken")

    def hanging(task: Task) -> None:
        until(lambda: task.lost)

    handlers = {qs[0].name: lambda _task: Later(HOUR), qs[1].name: raising, qs[2].name: hanging}
    ids = [fill(q, 1)[0] for q in qs]
    with manned("metronome", kind, server.url, handlers, timeout_ms=100, policy=ONCE):
        until(lambda: bus.run(command("ZCARD", qs[0].schedule)) == 1)
        until(lambda: bus.run(command("ZCARD", qs[1].dead)) == 1)
        until(lambda: bus.run(command("ZCARD", qs[2].dead)) == 1)
    errors = [bus.run(row(q, one)).get(b"last_error") for q, one in zip(qs, ids, strict=True)]
    assert errors[1:] == [b"ValueError: broken", b"timed out after 100 ms"]


def test_presence_in_every_queue_and_quiet_in_all(
    kind: str, server: Embedded, bus: Bus, qs: list[QueueKeys], fill: Fill, seen: Seen
) -> None:
    with manned("metronome", kind, server.url, for_all(qs, seen), lease_ms=150) as made:
        words = [q.worker(made.loop.worker) for q in qs]
        for key in words:
            until(lambda key=key: bus.run(command("HGET", key, "concurrency")) == b"4")
        made.tell(made.loop.quiet)
        until(lambda: all(bus.run(command("HGET", key, "quiet")) == b"1" for key in words))
        fill(qs[1], 3)
        until(lambda: bus.run(command("ZCARD", qs[1].pending)) == 3)
        made.tell(made.loop.quiet, False)
        until(done(bus, qs[1], 3))
    assert not any(bus.run(command("EXISTS", key)) for key in words)


def test_stop_settles_what_is_in_hand_of_all_queues(
    kind: str, server: Embedded, bus: Bus, qs: list[QueueKeys], fill: Fill
) -> None:
    begun, go = threading.Semaphore(0), threading.Event()

    def handler(_task: Task) -> None:
        begun.release()
        go.wait(PATIENCE_S)

    for q in qs:
        fill(q, 2)
    with manned("metronome", kind, server.url, for_all(qs, handler), workers=3) as made:
        for _ in range(3):
            assert begun.acquire(timeout=PATIENCE_S)
        made.tell(made.loop.stop)
        until(made.loop._stopping.is_set)
        go.set()
        assert made.end()
    assert [bus.run(command("ZCARD", q.pending)) for q in qs] == [1, 1, 1]
    assert [bus.run(command("ZCARD", q.active)) for q in qs] == [0, 0, 0]


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Embedded]:
    server = Embedded(tmp_path).start()
    yield server
    server.kill()


def test_row_43_a_server_that_goes_away_ends_no_loop(
    kind: str, alone: Embedded, qs: list[QueueKeys], mint: Callable[[], bytes], caplog: Any
) -> None:
    mine = connect(alone.url)
    begun, go = threading.Event(), threading.Event()

    def handler(_task: Task) -> None:
        begun.set()
        go.wait(PATIENCE_S)

    try:
        for q in qs:
            mine.run(admission.enqueue_many(q, [(mint(), b"") for _ in range(5)]))
        with manned("metronome", kind, alone.url, for_all(qs, handler)) as made:
            assert begun.wait(PATIENCE_S)
            alone.kill()
            go.set()  # the verdicts meet a server that is away
            until(lambda: made.loop.faults > 0)
            alone.start()
            for q in qs:
                until(done(mine, q, 5))
                mine.run(admission.enqueue(q, mint(), b""))
                until(done(mine, q, 6))
            until(lambda: not made.loop.in_hand)
            until(lambda: "the bus serves again" in caplog.text)  # the next beat may be the last
        assert made.drained
    finally:
        mine.close()
    assert caplog.text.count("trouble with the bus") == 1
    assert caplog.text.count("the bus serves again") == 1


def test_a_queue_that_cannot_be_served_holds_up_no_other(
    kind: str, server: Embedded, bus: Bus, qs: list[QueueKeys], fill: Fill, seen: Seen
) -> None:
    fill(qs[0], 1)
    bus.run(command("DEL", qs[0].ring))
    bus.run(command("SET", qs[0].ring, "no list"))
    with manned("metronome", kind, server.url, for_all(qs, seen)) as made:
        until(lambda: made.loop.faults > 2)
        fill(qs[1], 5)
        until(done(bus, qs[1], 5))
        bus.run(command("DEL", qs[0].ring))
        until(done(bus, qs[0], 1))


def test_a_dead_verdict_is_final(
    kind: str, server: Embedded, bus: Bus, q: QueueKeys, fill: Fill
) -> None:
    verdicts = iter([Dead("never"), Failed("no")])
    fill(q, 2)
    with manned("metronome", kind, server.url, {q.name: lambda _task: next(verdicts)}, workers=1):
        until(lambda: bus.run(command("ZCARD", q.dead)) == 1)
        until(lambda: bus.run(command("ZCARD", q.schedule)) == 1)
