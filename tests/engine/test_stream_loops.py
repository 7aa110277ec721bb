"""Loops over streams: what a consumer is handed, in which order, and what becomes of a record that
always fails; retention. Threads and asyncio side by side."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from queue_core import ids
from queue_core.async_bus import async_connect
from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys
from queue_core.plans import Step
from queue_core.verbs import streams
from queue_core.work.async_streams import AsyncRetention, AsyncStreamConsumer
from queue_core.work.records import Asking, Group, Keep, Pages, Record
from queue_core.work.streams import Retention, StreamConsumer
from queue_core.work.verdicts import Dead, Later
from tests.builders import HOUR, Run, command, raw
from tests.engine.steps import calls, watched

S = b"audit"
NOON_MS = 1_740_830_400_500
PATIENCE_S = 20
NEVER_MS = 600_000


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def append(bus: Bus, q: QueueKeys, *tails: int) -> None:
    for tail in tails:
        record_id = ids.encode("EVT", ids.min_for(NOON_MS) + tail)
        bus.run(streams.append(q, S, record_id, [("n", str(tail))]))


def number(record: Record) -> int:
    return int(dict(record.fields)[b"n"])


def held(bus: Bus, q: QueueKeys) -> int:
    """How many records of the group are in somebody's hands."""
    groups = bus.run(raw("XINFO", "GROUPS", q.stream(S)))
    return sum(one[one.index(b"pending") + 1] for one in groups)


class Threaded:
    """A loop in a thread."""

    def __init__(self, _server: Embedded, bus: Bus) -> None:
        self.bus = bus
        self.loops: list[tuple[Any, threading.Thread]] = []

    def consumer(self, q: QueueKeys, handler: Any, **options: Any) -> Any:
        return self._start(StreamConsumer(self.bus, q.name, S, "g", handler, **options))

    def retention(self, keeps: list[Keep], every_ms: int) -> Any:
        return self._start(Retention(self.bus, keeps, every_ms))

    def _start(self, loop: Any) -> Any:
        thread = threading.Thread(target=loop.run, daemon=True)
        thread.start()
        self.loops.append((loop, thread))
        return loop

    def stop(self) -> None:
        for loop, thread in self.loops:
            loop.stop()
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
        self.loops.clear()

    def close(self) -> None:
        self.stop()


class Looped:
    """A loop in an event loop of its own thread."""

    def __init__(self, server: Embedded, _bus: Bus) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.bus = self._await(async_connect(server.url))
        self.loops: list[tuple[Any, Any]] = []

    def _await(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(PATIENCE_S)

    def consumer(self, q: QueueKeys, handler: Any, **options: Any) -> Any:
        async def made() -> Any:
            return AsyncStreamConsumer(self.bus, q.name, S, "g", handler, **options)

        return self._start(self._await(made()))

    def retention(self, keeps: list[Keep], every_ms: int) -> Any:
        async def made() -> Any:
            return AsyncRetention(self.bus, keeps, every_ms)

        return self._start(self._await(made()))

    def _start(self, loop: Any) -> Any:
        self.loops.append((loop, asyncio.run_coroutine_threadsafe(loop.run(), self.loop)))
        return loop

    def stop(self) -> None:
        for loop, running in self.loops:
            self.loop.call_soon_threadsafe(loop.stop)
            running.result(PATIENCE_S)
        self.loops.clear()

    def close(self) -> None:
        self.stop()
        self._await(self.bus.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(PATIENCE_S)
        self.loop.close()


@pytest.fixture(params=[Threaded, Looped])
def stage(request: pytest.FixtureRequest, server: Embedded, bus: Bus) -> Iterator[Any]:
    made = request.param(server, bus)
    yield made
    made.close()


def test_records_are_handed_out_in_order_and_heard_of_at_once(
    stage: Any, bus: Bus, q: QueueKeys
) -> None:
    seen: list[int] = []
    append(bus, q, 1, 2)
    stage.consumer(q, lambda r: seen.append(number(r)), from_start=True, beat_ms=NEVER_MS)
    until(lambda: seen == [1, 2])
    append(bus, q, 3)
    until(lambda: seen == [1, 2, 3] and not held(bus, q))
    stage.stop()
    assert bus.run(raw("XINFO", "CONSUMERS", q.stream(S), "g")) == []


def test_a_group_begins_with_what_comes(stage: Any, bus: Bus, q: QueueKeys) -> None:
    seen: list[int] = []
    append(bus, q, 1)
    stage.consumer(q, lambda r: seen.append(number(r)))
    until(lambda: bus.run(raw("XINFO", "GROUPS", q.stream(S))))
    append(bus, q, 2)
    until(lambda: seen == [2])


def test_row_48_one_poison_record_stops_no_other_and_is_parked(
    stage: Any, bus: Bus, q: QueueKeys
) -> None:
    """A stream's consumer upstream reads its own list from the start until it is empty: a record
    that always fails spins there for ever, and new ones are never read."""
    tries: list[int] = []

    def handler(record: Record) -> None:
        tries.append(number(record))
        if number(record) == 1:
            raise ValueError("poison")

    append(bus, q, 1, 2)
    options = {"consumer": "c", "from_start": True, "idle_ms": 20, "beat_ms": 20}
    stage.consumer(q, handler, max_deliveries=3, **options)
    until(lambda: bus.run(streams.parked(q, S)))
    append(bus, q, 3)
    until(lambda: tries[-1] == 3 and not held(bus, q))
    assert tries.count(1) == 3
    assert tries.count(2) == tries.count(3) == 1
    (parked,) = bus.run(streams.parked(q, S))
    assert (parked.deliveries, parked.reason) == (3, b"ValueError: poison")
    assert dict(parked.record.fields)[b"n"] == b"1"
    assert len(bus.run(streams.read(q, S))) == 3


def test_row_48_a_record_that_killed_its_consumers_is_not_handed_out_again(
    stage: Any, bus: Bus, q: QueueKeys
) -> None:
    """What its consumer never acknowledged comes first at its next start, once, and forward."""
    seen: list[tuple[int, int]] = []
    bus.run(streams.group(q, S, b"g"))
    append(bus, q, *range(1, 6))
    (poison, *_) = bus.run(streams.group_read(q, S, b"g", b"c"))
    for _ in range(2):
        bus.run(command("XCLAIM", q.stream(S), "g", "c", 0, poison.place))
    append(bus, q, 6)
    stage.consumer(
        q, lambda r: seen.append((number(r), r.deliveries)), consumer="c", size=2,
        max_deliveries=3,
    )  # fmt: skip
    until(lambda: len(seen) == 5 and not held(bus, q))
    assert seen == [(2, 2), (3, 2), (4, 2), (5, 2), (6, 1)]
    (parked,) = bus.run(streams.parked(q, S))
    assert parked.record.place == poison.place
    assert parked.reason == b"handed out 3 times and never acknowledged"


def test_what_another_left_is_taken_over_and_the_trimmed_let_go(
    stage: Any, bus: Bus, q: QueueKeys
) -> None:
    seen: list[int] = []
    bus.run(streams.group(q, S, b"g"))
    append(bus, q, 1, 2, 3)
    bus.run(streams.group_read(q, S, b"g", b"died"))
    bus.run(streams.keep_last(q, S, 2, exact=True))
    stage.consumer(q, lambda r: seen.append(number(r)), idle_ms=1, beat_ms=20)
    until(lambda: seen == [2, 3] and not held(bus, q))


def test_verdicts_give_up_or_put_off(stage: Any, bus: Bus, q: QueueKeys) -> None:
    answers = {1: Dead("useless"), 2: Later(5), 3: "nonsense"}
    append(bus, q, 1, 2, 3)
    stage.consumer(q, lambda r: answers[number(r)], from_start=True)
    until(lambda: held(bus, q) == 2)
    (parked,) = bus.run(streams.parked(q, S))
    assert (parked.deliveries, parked.reason) == (1, b"useless")


def test_a_slow_handler_keeps_what_lies_behind_it(stage: Any, bus: Bus, q: QueueKeys) -> None:
    seen: list[int] = []
    other: list[int] = []

    def slow(record: Record) -> None:
        seen.append(number(record))
        time.sleep(0.45)

    append(bus, q, 1, 2, 3, 4)
    stage.consumer(q, slow, from_start=True, idle_ms=1_200)
    until(lambda: seen)
    stage.consumer(q, lambda r: other.append(number(r)), idle_ms=1_200, beat_ms=20)
    until(lambda: seen == [1, 2, 3, 4] and not held(bus, q))
    assert other == []


def test_a_group_that_was_destroyed_is_made_again(stage: Any, bus: Bus, q: QueueKeys) -> None:
    seen: list[int] = []
    stage.consumer(q, lambda r: seen.append(number(r)), beat_ms=20)
    until(lambda: bus.run(command("EXISTS", q.stream(S))))
    bus.run(command("DEL", q.stream(S)))
    append(bus, q, 5)
    until(lambda: seen == [5])


def test_streams_are_trimmed_by_their_policies(stage: Any, bus: Bus, q: QueueKeys) -> None:
    append(bus, q, *range(10))
    bus.run(command("SET", q.stream(b"broken"), "no stream"))
    keeps = [Keep(q, b"broken", last=1), Keep(q, S, last=4, exact=True)]
    stage.retention(keeps, 20)
    until(lambda: len(bus.run(streams.read(q, S))) == 4)
    append(bus, q, 20)
    until(lambda: [e.place for e in bus.run(streams.read(q, S))][-1].endswith(b"-20"))
    until(lambda: len(bus.run(streams.read(q, S))) == 4)
    stage.stop()
    stage.retention([Keep(q, S, younger_ms=HOUR, exact=True)], 20)
    until(lambda: bus.run(streams.read(q, S)) == [])


@pytest.mark.parametrize("kind", [Threaded, Looped])
def test_row_43_a_server_that_goes_away_ends_no_loop_over_streams(
    kind: Any, folder: Path, q: QueueKeys
) -> None:
    lonely = Embedded(folder).start()
    bus = connect(lonely.url)
    stage, seen = kind(lonely, bus), []
    try:
        stage.consumer(q, lambda r: seen.append(number(r)), from_start=True, beat_ms=50)
        stage.retention([Keep(q, S, last=2, exact=True)], 20)
        append(bus, q, 1)
        until(lambda: seen == [1] and not held(bus, q))
        lonely.kill()
        time.sleep(0.2)
        lonely.start()
        append(bus, q, 2, 3, 4)
        until(lambda: {2, 3, 4} & set(seen) and max(seen) == 4 and not held(bus, q))
        until(lambda: len(bus.run(streams.read(q, S))) == 2)
    finally:
        stage.close()
        bus.close()
        lonely.kill()


def test_an_idle_beat_costs_one_command(run: Run, q: QueueKeys) -> None:
    group = Group(q, S, b"g", b"c")
    pages, asking = Pages(group), Asking(group)
    assert run(pages.next(0.0)) == []
    asking.asked(0.0, 0, tracks=True)
    costs = []
    for beat in (1.0, 1.5, 2.0, 6.0):
        seen: list[Step] = []
        run(watched(pages.next(beat, asking.due(beat)), seen))
        costs.append(len(calls(seen)))
    assert costs == [1, 0, 1, 2]
    asking.heard()
    assert asking.due(6.0)
    asking.asked(6.0, group.size, tracks=True)
    assert asking.due(6.0)
    assert not asking.looks


def test_policies_and_groups_are_checked(q: QueueKeys) -> None:
    with pytest.raises(InvalidError):
        Keep(q, S)
    with pytest.raises(InvalidError):
        Group(q, S, b"g", b"c", size=0)
    with pytest.raises(InvalidError):
        Group(q, S, b"g", b"c", idle_ms=0)
