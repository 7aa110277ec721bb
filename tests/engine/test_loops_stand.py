"""Loops stand what a program does to them: handlers and policies that raise anything, a stop at any
moment and from anywhere."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from queue_core.async_bus import AsyncBus
from queue_core.bus import Bus
from queue_core.embedded import Embedded
from queue_core.errors import ContractError
from queue_core.ids import Minter
from queue_core.keys import QueueKeys, queue
from queue_core.reads.jobs import get_job_state
from queue_core.states import State
from queue_core.verbs import admission, streams
from queue_core.work.async_pump import AsyncPump
from queue_core.work.async_streams import AsyncStreamConsumer
from queue_core.work.backoff import fixed
from queue_core.work.consumer import Consumer
from queue_core.work.metronome import Metronome
from queue_core.work.presence import worker_id
from queue_core.work.pump import Pump
from queue_core.work.records import Record
from queue_core.work.serving import Policy
from queue_core.work.streams import StreamConsumer
from queue_core.work.task import AsyncTask, Task
from queue_core.work.verdicts import Verdict
from tests.builders import HOUR, command
from tests.engine.attended import until as until_awaited
from tests.engine.manned import KINDS, LOOPS, NEVER_MS, PATIENCE_S, admit, manned, until

_events = Minter(1002)
QUIETLY = Policy(fixed(HOUR), 3)


def plain(_task: Any) -> None:
    """Does nothing."""


async def awaited(_task: Any) -> None:
    """The same, awaited."""


# ---- what handlers and policies do to them -------------------------------------------------------


class Raises:
    """A backoff with a bug."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def ceiling(self, _failures: int) -> int:
        """Never asked."""
        raise AssertionError

    def delay(self, _failures: int) -> Any:
        """No delay."""
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("answer", [ValueError("a bug"), 1.5, None, 10**30])
def test_a_backoff_with_a_bug_neither_ends_a_worker_nor_keeps_its_job(
    server: Embedded, bus: Bus, q: QueueKeys, mint: Callable[[], bytes], answer: Any
) -> None:
    def fails(task: Task) -> None:
        if task.payload == b"0":
            raise ConnectionError

    (failed, _done) = admit(bus, mint, q, 2)
    policy = Policy(Raises(answer), 3)
    with manned("consumer", "threads", server.url, q.name, fails, policy=policy) as one:
        until(lambda: bus.run(command("HGET", q.metrics_completed, "count")) == b"1")
        until(lambda: bus.run(command("ZCARD", q.schedule)) == 1)
    assert one.drained
    assert bus.run(get_job_state(q, failed)).value is State.scheduled


class Mute(Exception):
    """Nothing can be said of it."""

    def __str__(self) -> str:
        """Asks for the end of the program."""
        raise SystemExit(3)


@pytest.mark.parametrize("kind", KINDS)
def test_an_exception_that_cannot_be_told_costs_no_hand(
    server: Embedded, bus: Bus, q: QueueKeys, mint: Callable[[], bytes], kind: str
) -> None:
    def mute(_task: Task) -> None:
        raise Mute

    admit(bus, mint, q, 3)
    with manned("consumer", kind, server.url, q.name, mute, policy=QUIETLY):
        until(lambda: bus.run(command("ZCARD", q.schedule)) == 3)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_task_beside_a_handler_that_ends_the_program_ends_itself_alone(
    server: Embedded, bus: Bus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    async def leaves() -> None:
        sys.exit(3)

    async def handle(_task: AsyncTask) -> None:
        beside = asyncio.create_task(leaves())
        await asyncio.wait({beside})

    admit(bus, mint, q, 3)
    consumer = Consumer(bus, q.name, handle)
    running = threading.Thread(target=consumer.run, daemon=True)
    running.start()
    until(lambda: bus.run(command("HGET", q.metrics_completed, "count")) == b"3")
    consumer.stop()
    running.join(PATIENCE_S)
    assert not running.is_alive()


class Called:
    """An object that is called like a coroutine function."""

    def __init__(self) -> None:
        self.came = asyncio.Event()

    async def __call__(self, _record: Record) -> None:
        """Says so."""
        self.came.set()


async def _cancelled(_record: Record) -> None:
    gone = asyncio.get_running_loop().create_future()
    gone.cancel()
    await gone


async def _exits(_record: Record) -> None:
    sys.exit(2)


@pytest.mark.parametrize("bad", [_cancelled, _exits])
async def test_what_a_stream_s_handler_raises_is_its_record_s_failure(
    abus: AsyncBus, q: QueueKeys, mint: Callable[[], bytes], bad: Any
) -> None:
    called = Called()
    for n in range(2):
        await abus.run(streams.append(q, b"s", _events.mint("EVT"), [("n", str(n))]))

    async def handle(record: Record) -> Verdict | None:
        if dict(record.fields)[b"n"] == b"0":
            return await bad(record)  # type: ignore[no-any-return]
        return await called(record)  # type: ignore[func-returns-value]

    consumer = AsyncStreamConsumer(abus, q.name, "s", "g", handle, from_start=True, beat_ms=50)
    running = asyncio.create_task(consumer.run())
    async with asyncio.timeout(PATIENCE_S):
        await called.came.wait()
        consumer.stop()
        await running


async def test_a_stream_takes_an_object_that_is_called_like_a_coroutine_function(
    abus: AsyncBus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    called = Called()
    await abus.run(streams.append(q, b"s", _events.mint("EVT"), [("n", "0")]))
    consumer = AsyncStreamConsumer(abus, q.name, "s", "g", called, from_start=True, beat_ms=50)
    running = asyncio.create_task(consumer.run())
    async with asyncio.timeout(PATIENCE_S):
        await called.came.wait()
        consumer.stop()
        await running


async def test_a_stream_s_handler_that_keeps_a_cancelling_does_not_keep_the_hard_stop(
    abus: AsyncBus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    begun = asyncio.Event()
    await abus.run(streams.append(q, b"s", _events.mint("EVT"), [("n", "0")]))

    async def keeps(_record: Record) -> None:
        begun.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    consumer = AsyncStreamConsumer(abus, q.name, "s", "g", keeps, from_start=True)
    running = asyncio.create_task(consumer.run())
    async with asyncio.timeout(PATIENCE_S):
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


# ---- how they begin and end ----------------------------------------------------------------------


@pytest.mark.parametrize("which", LOOPS)
def test_what_has_ended_is_settled_although_there_is_no_time_to_drain(
    bus: Bus, q: QueueKeys, mint: Callable[[], bytes], which: str
) -> None:
    def handle(given: Any) -> Any:
        return dict.fromkeys(task.id for task in given) if which == "batches" else None

    given = ({q.name: handle},) if which == "metronome" else (q.name, handle)
    loop = LOOPS[which][0](bus, *given, drain_s=0)
    hands = loop._places._hands if which == "batches" else loop._hands
    hands._told = loop.stop  # at the moment when the handler has ended
    admit(bus, mint, q, 1)
    assert loop.run()
    assert bus.run(command("HGET", q.metrics_completed, "count")) == b"1"


@pytest.mark.parametrize("which", LOOPS)
async def test_an_awaited_loop_settles_what_has_ended_although_there_is_no_time_to_drain(
    abus: AsyncBus, q: QueueKeys, mint: Callable[[], bytes], which: str
) -> None:
    async def handle(given: Any) -> Any:
        loop.stop()  # its verdict falls before the loop's next turn
        return dict.fromkeys(task.id for task in given) if which == "batches" else None

    given = ({q.name: handle},) if which == "metronome" else (q.name, handle)
    loop = LOOPS[which][1](abus, *given, drain_s=0)
    await abus.run(admission.enqueue(q, mint(), b"x"))
    assert await loop.run()
    assert await abus.run(command("HGET", q.metrics_completed, "count")) == b"1"


@pytest.mark.parametrize("which", LOOPS)
def test_a_loop_runs_once_and_one_that_was_stopped_before_ends_at_once(
    bus: Bus, q: QueueKeys, which: str
) -> None:
    for handler in (plain, awaited):
        given = ({q.name: handler},) if which == "metronome" else (q.name, handler)
        loop = LOOPS[which][0](bus, *given)
        loop.stop()
        loop.stop()
        assert loop.run()
        loop.stop()
        with pytest.raises(ContractError, match="runs once"):
            loop.run()
    assert bus.run(command("EXISTS", q.workers)) == 0


@pytest.mark.parametrize("which", LOOPS)
async def test_an_awaited_loop_runs_once(abus: AsyncBus, q: QueueKeys, which: str) -> None:
    given = ({q.name: awaited},) if which == "metronome" else (q.name, awaited)
    loop = LOOPS[which][1](abus, *given)
    loop.stop()
    assert await loop.run()
    with pytest.raises(ContractError, match="runs once"):
        await loop.run()


def test_pumps_and_consumers_of_streams_run_once(bus: Bus, q: QueueKeys) -> None:
    for loop in (Pump(bus, [q]), StreamConsumer(bus, q.name, "s", "g", plain)):
        loop.stop()
        loop.run()
        with pytest.raises(ContractError, match="runs once"):
            loop.run()


def _run_elsewhere(loop: Consumer, said: Any) -> None:
    try:
        loop.run()
    except ContractError as fault:
        said.put(str(fault))


def test_a_loop_runs_in_the_process_that_made_it(bus: Bus, q: QueueKeys) -> None:
    forks = multiprocessing.get_context("fork")
    loop, said = Consumer(bus, q.name, plain), forks.SimpleQueue()
    child = forks.Process(target=_run_elsewhere, args=(loop, said))
    child.start()
    assert said.get() == "a loop runs in the process that made it"
    child.join(PATIENCE_S)
    loop.stop()
    assert loop.run()


def test_two_workers_of_one_process_and_queue_have_names_and_words_of_their_own(
    bus: Bus, q: QueueKeys
) -> None:
    pair = [Consumer(bus, q.name, plain, beat_ms=NEVER_MS) for _ in range(2)]
    threads = [threading.Thread(target=one.run, daemon=True) for one in pair]
    for thread in threads:
        thread.start()
    until(lambda: bus.run(command("ZCARD", q.workers)) == 2)
    pair[0].stop()
    threads[0].join(PATIENCE_S)
    assert bus.run(command("ZRANGE", q.workers, 0, 9)) == [pair[1].worker]
    assert bus.run(command("HGET", q.worker(pair[1].worker), "in_hand")) == b"0"
    pair[1].stop()
    threads[1].join(PATIENCE_S)
    assert bus.run(command("EXISTS", q.workers)) == 0


def test_workers_of_several_queues_are_named_alike_where_none_is_in_the_other_s_way() -> None:
    first = worker_id("t", [b"named.a"])
    assert worker_id("t", [b"named.b"]) == first
    assert worker_id("t", [b"named.b", b"named.c"]) == first + b".2"
    assert worker_id("t", [b"named.c"]) == first + b".3"


def test_a_label_that_looks_like_a_number_is_nobody_else_s_name() -> None:
    bare = worker_id("", [b"named.d"])
    assert worker_id("2", [b"named.d"]) == bare + b".2"
    assert worker_id("", [b"named.d"]) == bare + b".3"
    assert worker_id("3", [b"named.d"]) == bare + b".3.2"


async def _lives(abus: AsyncBus, q: QueueKeys) -> bool:
    return bool(await abus.run(command("ZCARD", q.workers)))


@pytest.mark.parametrize("which", LOOPS)
async def test_an_awaited_loop_is_stopped_from_another_thread_at_once(
    abus: AsyncBus, q: QueueKeys, which: str
) -> None:
    given = ({q.name: awaited},) if which == "metronome" else (q.name, awaited)
    loop = LOOPS[which][1](abus, *given, beat_ms=NEVER_MS)
    running = asyncio.create_task(loop.run())
    pump = AsyncPump(abus, [q])
    pumping = asyncio.create_task(pump.run())
    await until_awaited(lambda: _lives(abus, q))
    # Whatever wakes the loop here would hide that nothing else does.
    stopper = threading.Timer(0.2, lambda: (loop.stop(), pump.stop()))
    stopper.start()
    async with asyncio.timeout(4):  # a pump looks each five seconds by itself
        assert await running
        await pumping


def test_a_metronome_of_many_queues_holds_a_line_for_each_and_looks_at_them_by_turns(
    bus: Bus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    """With nothing that grows faster than they do, and nothing at all before it runs."""
    before, many = len(os.listdir("/proc/self/fd")), 60
    served: set[bytes] = set()
    made = [queue(f"{q.name.decode()}.{n}") for n in range(many)]
    loop = Metronome(bus, {one.name: lambda task: served.add(task.queue) for one in made})
    assert len(os.listdir("/proc/self/fd")) - before <= 2
    running = threading.Thread(target=loop.run, daemon=True)
    running.start()
    until(lambda: all(station.look_at for station in loop._rounds.stations))
    assert len({round(station.look_at) for station in loop._rounds.stations}) >= 4
    for one in made:
        bus.run(admission.enqueue(one, mint(), b"x"))
    until(lambda: len(served) == many)
    assert len(os.listdir("/proc/self/fd")) - before <= many + 10
    loop.stop()
    running.join(PATIENCE_S)
    assert not running.is_alive()


class Interrupted(Consumer):
    """One that is interrupted once it has said that it lives."""

    def _serve(self, now: float) -> None:
        del now
        until(lambda: self._bus.run(command("ZCARD", self.q.workers)) == 1)
        raise KeyboardInterrupt


def test_a_worker_that_is_interrupted_takes_its_words_back(bus: Bus, q: QueueKeys) -> None:
    with pytest.raises(KeyboardInterrupt):
        Interrupted(bus, q.name, plain).run()
    assert bus.run(command("EXISTS", q.workers)) == 0


@pytest.mark.parametrize("which", LOOPS)
async def test_a_hard_stop_takes_the_worker_s_words_back(
    abus: AsyncBus, q: QueueKeys, which: str
) -> None:
    given = ({q.name: awaited},) if which == "metronome" else (q.name, awaited)
    running = asyncio.create_task(LOOPS[which][1](abus, *given).run())
    await until_awaited(lambda: _lives(abus, q))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not await _lives(abus, q)
