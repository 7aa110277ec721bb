"""The processes of the crash test: `python -m tests.proof.hands ROLE URL JOURNAL NODE SEED`.

Each writes what it does into a journal of its own before it goes on, a line at a time and straight
to the file, so that a SIGKILL loses none of it: `monotonic_ns what queue id detail`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from queue_core.async_bus import AsyncBus, async_connect
from queue_core.bus import Bus, connect
from queue_core.errors import EchoMQError
from queue_core.ids import Minter
from queue_core.keys import queue
from queue_core.plans import Plan
from queue_core.work.async_batch_consumer import AsyncBatchConsumer
from queue_core.work.async_consumer import AsyncConsumer
from queue_core.work.async_metronome import AsyncMetronome
from queue_core.work.async_pump import AsyncPump
from queue_core.work.async_streams import AsyncStreamConsumer
from queue_core.work.backoff import fixed
from queue_core.work.batch_consumer import BatchConsumer
from queue_core.work.consumer import Consumer
from queue_core.work.metronome import Metronome
from queue_core.work.pump import Mint, Pump
from queue_core.work.records import Record
from queue_core.work.serving import Policy
from queue_core.work.streams import StreamConsumer
from queue_core.work.task import Attempt
from queue_core.work.verdicts import Dead, Done, Failed, Later, Verdict
from tests.proof.journal import Journal
from tests.proof.producers import QUEUES, STREAM, produce

CONCURRENCY = 3
"""Jobs that handlers of one worker have begun at once on one queue."""
LEASE_MS = 2_500
MAX_STALLED = 8
RETRY_S = 0.02
GROUP = b"crew"
IDLE_MS = 1_500
"""How long a record lies before another worker takes it over."""
OPTIONS: dict[str, Any] = {"lease_ms": LEASE_MS, "beat_ms": 100, "policy": Policy(fixed(50), 3)}

Makes = Callable[[Any, "Handlers", str], list[Any]]
"""What makes the loops of one process, of a bus, its handlers and a label."""


class Handlers:
    """What is done with a job and with a record: in a thread or awaited, one or many at once."""

    def __init__(self, journal: Journal, hand: Random, awaited: bool) -> None:
        self._journal = journal
        self._hand = hand
        self.one: Callable[..., Any] = self._awaited if awaited else self._plain
        self.many: Callable[..., Any] = self._awaited_many if awaited else self._plain_many

    def _plain(self, task: Attempt) -> Verdict:
        self._began(task)
        time.sleep(self._hand.random() * 0.03)
        return self._ended(task)

    async def _awaited(self, task: Attempt) -> Verdict:
        self._began(task)
        await asyncio.sleep(self._hand.random() * 0.03)
        return self._ended(task)

    def _plain_many(self, tasks: Sequence[Attempt]) -> dict[bytes, Verdict]:
        return {task.id: self._plain(task) for task in tasks}

    async def _awaited_many(self, tasks: Sequence[Attempt]) -> dict[bytes, Verdict]:
        verdicts = await asyncio.gather(*map(self._awaited, tasks))
        return {task.id: verdict for task, verdict in zip(tasks, verdicts, strict=True)}

    def _began(self, task: Attempt) -> None:
        self._journal.note("begin", queue(task.queue), task.id, str(task.attempts))

    def _ended(self, task: Attempt) -> Verdict:
        verdict = _verdict(task)
        name = type(verdict).__name__
        self._journal.note(name, queue(task.queue), task.id, str(task.attempts))
        return verdict

    def read(self, record: Record) -> None:
        """Note a record; one in fifty fails."""
        time.sleep(self._noted(record))

    async def read_awaited(self, record: Record) -> None:
        """As `read`."""
        await asyncio.sleep(self._noted(record))

    def _noted(self, record: Record) -> float:
        self._journal.note("read", QUEUES[0], record.id or b"nobody", str(record.deliveries))
        if self._hand.random() < 0.02:
            raise ValueError("again, when it lay for a while")
        return self._hand.random() * 0.01


def _verdict(task: Attempt) -> Verdict:
    kind = task.payload.decode()
    if task.attempts == 1 and kind in ("fail", "later"):
        return Failed("the first attempt fails") if kind == "fail" else Later(30)
    return Dead("it never works") if kind == "dead" else Done()


def _consumers(kind: type[Any]) -> Makes:
    def make(bus: Any, handlers: Handlers, label: str) -> list[Any]:
        bounds = {"concurrency": CONCURRENCY, "label": label, **OPTIONS}
        return [kind(bus, q.name, handlers.one, **bounds) for q in QUEUES]

    return make


def _batches(kind: type[Any]) -> Makes:
    def make(bus: Any, handlers: Handlers, label: str) -> list[Any]:
        bounds = {"max_size": CONCURRENCY, "lanes": True, "label": label, **OPTIONS}
        return [kind(bus, q.name, handlers.many, **bounds) for q in QUEUES]

    return make


def _metronome(kind: type[Any]) -> Makes:
    def make(bus: Any, handlers: Handlers, label: str) -> list[Any]:
        most = CONCURRENCY
        bounds = {"workers": most * len(QUEUES), "most": most, "label": label, **OPTIONS}
        return [kind(bus, {q.name: handlers.one for q in QUEUES}, **bounds)]

    return make


THREADED: dict[str, Makes] = {
    "Consumer": _consumers(Consumer),
    "BatchConsumer": _batches(BatchConsumer),
    "Metronome": _metronome(Metronome),
}
AWAITED: dict[str, Makes] = {
    "AsyncConsumer": _consumers(AsyncConsumer),
    "AsyncBatchConsumer": _batches(AsyncBatchConsumer),
    "AsyncMetronome": _metronome(AsyncMetronome),
}
WORKERS = (*THREADED, *AWAITED)
PUMPS = ("Pump", "AsyncPump")


def serve(role: str, bus: Bus, handlers: Handlers, mint: Mint, node: str) -> None:
    """What threads run of the roles: all queues by one of the kinds of loop and the stream's
    records, or what time drives."""
    if role == "Pump":
        Pump(bus, QUEUES, mint, max_stalled=MAX_STALLED).run()
        return
    reader = StreamConsumer(
        bus, QUEUES[0].name, STREAM, GROUP, handlers.read,
        from_start=True, beat_ms=100, idle_ms=IDLE_MS, max_deliveries=100,
    )  # fmt: skip
    loops = [*THREADED[role](bus, handlers, node), reader]
    threads = [threading.Thread(target=loop.run) for loop in loops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


async def serve_awaited(role: str, url: str, handlers: Handlers, mint: Mint, node: str) -> None:
    """What an event loop runs of them."""
    bus = await _reach_awaited(url)
    if role == "AsyncPump":
        await AsyncPump(bus, QUEUES, mint, max_stalled=MAX_STALLED).run()
        return
    reader = AsyncStreamConsumer(
        bus, QUEUES[0].name, STREAM, GROUP, handlers.read_awaited,
        from_start=True, beat_ms=100, idle_ms=IDLE_MS, max_deliveries=100,
    )  # fmt: skip
    loops = [*AWAITED[role](bus, handlers, node), reader]
    async with asyncio.TaskGroup() as group:
        for loop in loops:
            group.create_task(loop.run())


def _reach(url: str) -> Bus:
    """A bus, as soon as the server answers."""
    while True:
        try:
            return connect(url)
        except EchoMQError:
            time.sleep(RETRY_S)


async def _reach_awaited(url: str) -> AsyncBus:
    while True:
        try:
            return await async_connect(url)
        except EchoMQError:
            await asyncio.sleep(RETRY_S)


def _end(died: threading.ExceptHookArgs) -> None:
    """A thread that fails ends the process: a worker that limps would look well."""
    traceback.print_exception(died.exc_value)
    os._exit(1)


def main() -> None:
    """Be one of them, until it is killed."""
    role, url, path, node, number = sys.argv[1:]
    threading.excepthook = _end
    hand, minter = Random(number), Minter(int(node))

    def mint() -> Plan[bytes]:
        return minter.mint()
        yield

    journal = Journal(path)
    handlers = Handlers(journal, hand, awaited=hand.random() < 0.5)
    if role == "producer":
        produce(_reach(url), journal, minter, hand)
    elif role in AWAITED or role == "AsyncPump":
        asyncio.run(serve_awaited(role, url, handlers, mint, node))
    else:
        serve(role, _reach(url), handlers, mint, node)


if __name__ == "__main__":
    main()
