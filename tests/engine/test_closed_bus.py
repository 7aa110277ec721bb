"""A bus that a program closes under its loops ends them: it serves nobody again."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from queue_core.async_bus import async_connect
from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.errors import UnavailableError
from queue_core.keys import QueueKeys
from queue_core.verbs import admission
from queue_core.work.async_batch_consumer import AsyncBatchConsumer
from queue_core.work.async_consumer import AsyncConsumer
from queue_core.work.async_metronome import AsyncMetronome
from queue_core.work.async_pump import AsyncPump
from queue_core.work.async_streams import AsyncRetention, AsyncStreamConsumer
from queue_core.work.batch_consumer import BatchConsumer
from queue_core.work.consumer import Consumer
from queue_core.work.metronome import Metronome
from queue_core.work.pump import Pump
from queue_core.work.records import Keep
from queue_core.work.streams import Retention, StreamConsumer
from tests.builders import command
from tests.engine.manned import PATIENCE_S
from tests.servers import Sentinels, running

BEAT_MS = 20


def plain(_given: Any) -> None:
    """Does nothing."""


async def awaited(_given: Any) -> None:
    """The same, awaited."""


Make = Callable[[Any, QueueKeys, Any, tuple[Any, ...]], Any]
LOOPS: dict[str, Make] = {
    "consumer": lambda bus, q, do, of: of[0](bus, q.name, do, beat_ms=BEAT_MS),
    "batches": lambda bus, q, do, of: of[1](bus, q.name, do, beat_ms=BEAT_MS),
    "metronome": lambda bus, q, do, of: of[2](bus, {q.name: do}, beat_ms=BEAT_MS),
    "pump": lambda bus, q, _do, of: of[3](bus, [q]),
    "stream": lambda bus, q, do, of: of[4](bus, q.name, "s", "g", do, beat_ms=BEAT_MS),
    "retention": lambda bus, q, _do, of: of[5](bus, [Keep(q, "s", last=1)], BEAT_MS),
}
THREADED = (Consumer, BatchConsumer, Metronome, Pump, StreamConsumer, Retention)
AWAITED = (
    AsyncConsumer, AsyncBatchConsumer, AsyncMetronome, AsyncPump, AsyncStreamConsumer,
    AsyncRetention,
)  # fmt: skip


@pytest.mark.parametrize("after_s", [0, 10 * BEAT_MS / 1000], ids=["as it begins", "at rest"])
@pytest.mark.parametrize("which", LOOPS)
def test_a_loop_falls_with_its_bus(
    server: Embedded, q: QueueKeys, which: str, after_s: float
) -> None:
    bus, fell = connect(server.url), []
    loop = LOOPS[which](bus, q, plain, THREADED)

    def live() -> None:
        with pytest.raises(UnavailableError) as fault:
            loop.run()
        fell.append(fault.value.code)

    running = threading.Thread(target=live, daemon=True)
    running.start()
    time.sleep(after_s)
    bus.close()
    running.join(PATIENCE_S)
    assert fell == ["CLOSED"]
    assert loop.faults == 0  # of the program, not of the server


@pytest.mark.parametrize("after_s", [0, 10 * BEAT_MS / 1000], ids=["as it begins", "at rest"])
@pytest.mark.parametrize("which", LOOPS)
async def test_an_awaited_loop_falls_with_its_bus(
    server: Embedded, q: QueueKeys, which: str, after_s: float
) -> None:
    bus = await async_connect(server.url)
    loop = LOOPS[which](bus, q, awaited, AWAITED)
    running = asyncio.create_task(loop.run())
    await asyncio.sleep(after_s)
    await bus.close()
    with pytest.raises(UnavailableError) as fault:
        async with asyncio.timeout(PATIENCE_S):
            await running
    assert fault.value.code == "CLOSED"


@pytest.mark.parametrize("which", ["consumer", "batches", "metronome"])
def test_a_quiet_loop_falls_with_its_bus_too(server: Embedded, q: QueueKeys, which: str) -> None:
    bus = connect(server.url)

    async def fall() -> None:
        there = await async_connect(server.url)
        awaiting = LOOPS[which](there, q, awaited, AWAITED)
        awaiting.quiet()
        awaiting._every_s = BEAT_MS / 1000
        running = asyncio.create_task(awaiting.run())
        await asyncio.sleep(10 * BEAT_MS / 1000)
        await there.close()
        async with asyncio.timeout(PATIENCE_S):
            await running

    with pytest.raises(UnavailableError):
        asyncio.run(fall())
    loop = LOOPS[which](bus, q, plain, THREADED)
    loop.quiet()
    loop._every_s = BEAT_MS / 1000
    closing = threading.Timer(10 * BEAT_MS / 1000, bus.close)
    closing.start()
    with pytest.raises(UnavailableError):
        loop.run()


@pytest.mark.parametrize("awaits", [False, True], ids=["threads", "tasks"])
def test_every_loop_falls_where_the_servers_are_away_as_well(q: QueueKeys, awaits: bool) -> None:
    with running(Sentinels) as servers:
        fallen = _all_awaited(servers, q) if awaits else _all_threaded(servers, q)
    assert fallen == ["CLOSED"] * len(LOOPS)


def _away(servers: Sentinels) -> None:
    servers.stop()
    time.sleep(10 * BEAT_MS / 1000)


def _all_threaded(servers: Sentinels, q: QueueKeys) -> list[str]:
    bus, fallen = connect(servers.url), []

    def live(loop: Any) -> None:
        with pytest.raises(UnavailableError) as fault:
            loop.run()
        fallen.append(fault.value.code)

    loops = [make(bus, q, plain, THREADED) for make in LOOPS.values()]
    threads = [threading.Thread(target=live, args=(loop,), daemon=True) for loop in loops]
    for thread in threads:
        thread.start()
    _away(servers)
    bus.close()
    for thread in threads:
        thread.join(PATIENCE_S)
    return fallen


def _all_awaited(servers: Sentinels, q: QueueKeys) -> list[str]:
    async def live() -> list[str]:
        bus = await async_connect(servers.url)
        loops = [make(bus, q, awaited, AWAITED) for make in LOOPS.values()]
        tasks = [asyncio.create_task(loop.run()) for loop in loops]
        await asyncio.to_thread(_away, servers)
        await bus.close()
        done, _ = await asyncio.wait(tasks, timeout=PATIENCE_S)
        return [getattr(task.exception(), "code", "") for task in done]

    return asyncio.run(live())


def test_a_job_in_hand_is_not_waited_for_where_nothing_can_settle_it(
    server: Embedded, bus: Bus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    own, begun, go = connect(server.url), threading.Event(), threading.Event()
    ends: list[bool] = []

    def handler(_task: object) -> None:
        begun.set()
        assert go.wait(PATIENCE_S)

    worker = Consumer(own, q.name, handler, drain_s=60)
    running = threading.Thread(target=lambda: ends.append(worker.run()), daemon=True)
    running.start()
    bus.run(admission.enqueue(q, mint(), b""))
    assert begun.wait(PATIENCE_S)
    worker.stop()
    own.close()
    go.set()
    running.join(PATIENCE_S)
    assert ends == [False]


async def test_nor_in_an_event_loop(
    server: Embedded, bus: Bus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    own, begun, go = await async_connect(server.url), asyncio.Event(), asyncio.Event()

    async def handler(_task: object) -> None:
        begun.set()
        await go.wait()

    worker = AsyncConsumer(own, q.name, handler, drain_s=60)
    running = asyncio.create_task(worker.run())
    bus.run(admission.enqueue(q, mint(), b""))
    async with asyncio.timeout(PATIENCE_S):
        await begun.wait()
        worker.stop()
        await own.close()
        go.set()
        assert await running is False


async def test_a_line_that_is_being_opened_serves_no_closed_bus(
    server: Embedded, q: QueueKeys
) -> None:
    bus = await async_connect(server.url)
    bus._pools._shared.clear()
    asking = asyncio.create_task(bus.run(command("GET", q.base)))
    await asyncio.sleep(0)
    await bus.close()
    with pytest.raises(UnavailableError) as fault:
        await asking
    assert fault.value.code == "CLOSED"
    with pytest.raises(UnavailableError):
        await bus.run(command("GET", q.base))
