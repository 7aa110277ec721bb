"""Loops over streams for asyncio: as `streams.py`, awaited."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeAlias

from queue_core.async_watches import AsyncWatches
from queue_core.errors import EchoMQError
from queue_core.keys import queue
from queue_core.names import as_bytes
from queue_core.numbers import seconds, whole
from queue_core.quoting import quoted
from queue_core.verbs import streams
from queue_core.work.async_loops import from_anywhere, within
from queue_core.work.flags import Once
from queue_core.work.hands import must_be_called
from queue_core.work.records import (
    ACK_S,
    BEAT_MS,
    DRAIN_S,
    IDLE_MS,
    MAX_DELIVERIES,
    PAGE,
    Asking,
    Group,
    Keep,
    Pages,
    Record,
    fresh_consumer,
    hold,
    settle,
    trim_each,
)
from queue_core.work.streams import RETAIN_MS, RecordHandler
from queue_core.work.task import AsyncRuns
from queue_core.work.task_hands import END_S, is_awaited
from queue_core.work.trouble import Trouble, Troubled
from queue_core.work.verdicts import Verdict, failure, verdict_of

AsyncRecordHandler: TypeAlias = Callable[[Record], Awaitable[Verdict | None]]

_log = logging.getLogger(__name__)


class AsyncServes(AsyncRuns, AsyncWatches, Protocol):
    """An awaited bus that gives watches."""


class AsyncStreamConsumer(Troubled):
    """Hands the records of a stream to `handler`, a coroutine function or a plain one, which runs
    in a thread; `StreamConsumer` says what the options mean. `stop` may be called from any thread.
    Cancelling whoever awaits `run` is the hard stop: what was not acknowledged comes again."""

    def __init__(
        self,
        bus: AsyncServes,
        name: bytes | str,
        stream: bytes | str,
        group: bytes | str,
        handler: AsyncRecordHandler | RecordHandler,
        *,
        consumer: bytes | str = b"",
        from_start: bool = False,
        size: int = PAGE,
        beat_ms: int = BEAT_MS,
        idle_ms: int = IDLE_MS,
        max_deliveries: int = MAX_DELIVERIES,
        drain_s: float = DRAIN_S,
    ) -> None:
        must_be_called(handler)
        who = as_bytes(consumer) or fresh_consumer()
        words = (queue(name), as_bytes(stream), as_bytes(group), who)
        self.group = Group(*words, from_start, size, beat_ms, idle_ms, max_deliveries)
        self._bus = bus
        self._handler: Callable[[Any], Any] = handler
        self._awaited = is_awaited(handler)
        self._drain_s = seconds(drain_s, "a drain in s")
        self._trouble = Trouble(f"stream {quoted(self.group.stream)}", _log)
        self._once = Once()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._changed = asyncio.Event()
        self._watch = bus.watch(self.group.q.stream(self.group.stream), self._changed)
        self._stopping = asyncio.Event()
        self._stop_by: float | None = None
        self._unsettled: list[tuple[Record, Verdict]] = []

    def stop(self) -> None:
        """Take nothing more; `run` returns when what is in hand is worked off."""
        self._stop_by = time.monotonic() + self._drain_s
        from_anywhere(self._loop, self._stopping.set, self._changed.set)

    async def run(self) -> None:
        """Serve until `stop`; trouble with the server is waited out."""
        self._once.begin()
        self._loop = asyncio.get_running_loop()
        pages, trouble = Pages(self.group), self._trouble
        asking = Asking(self.group)
        try:
            while not self._stopping.is_set():
                self._changed.clear()
                now = time.monotonic()
                fresh = asking.due(now)
                try:
                    if fresh and asking.looks:
                        await self._watch.look(self.group.look())
                    records = await self._bus.run(pages.next(now, fresh))
                    await self._work(records)
                except EchoMQError as fault:
                    asking.heard()
                    await within(self._stopping, trouble.met(fault))
                    continue
                trouble.over()
                if fresh:
                    asking.asked(now, len(records), self._watch.tracks)
                if not records and not self._stopping.is_set():
                    await within(self._changed, self.group.beat_ms / 1000)
                if self._watch.heard:
                    asking.heard()
            await self._leave()
        finally:
            self._watch.close()

    async def _work(self, records: list[Record]) -> None:
        """Hand a page to the handler, and settle it bit by bit."""
        await self._settle()
        held_at = settled_at = time.monotonic()
        lost: set[bytes] = set()
        for at, one in enumerate(records):
            now = time.monotonic()
            if self._stop_by is not None and now > self._stop_by:
                break
            if now - held_at > self.group.idle_ms / 3000:
                held_at, lost = now, await self._bus.run(hold(self.group, records[at:]))
            if one.place in lost:
                continue
            self._unsettled.append((one, await self._verdict(one)))
            if time.monotonic() - settled_at > ACK_S:
                await self._settle()
                settled_at = time.monotonic()
        await self._settle()

    async def _verdict(self, one: Record) -> Verdict:
        """The handler's, in a task of its own, so that a cancelling of the one is not taken for a
        cancelling of the other, neither where a handler raises it nor where it keeps it."""
        task = asyncio.create_task(self._handled(one))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task}, timeout=END_S)
            raise

    async def _handled(self, one: Record) -> Verdict:
        try:
            if self._awaited:
                return verdict_of(await self._handler(one))
            return verdict_of(await asyncio.to_thread(self._handler, one))
        except BaseException as error:  # noqa: BLE001 (whatever a handler raises is its record's failure)
            return failure(error)

    async def _settle(self) -> None:
        if self._unsettled:
            for one in await self._bus.run(settle(self.group, self._unsettled)):
                _log.error("%r of %r was given up", one.place, self.group.stream)
            self._unsettled = []

    async def _leave(self) -> None:
        group = self.group
        try:
            await self._settle()
            await self._bus.run(streams.leave(group.q, group.stream, group.name, group.consumer))
        except EchoMQError as fault:
            _log.info("the group was not told of the end: %s", fault)


class AsyncRetention(Troubled):
    """Trims streams by their policies until `stop`; `Retention` says what the options mean."""

    def __init__(self, bus: AsyncRuns, keeps: Sequence[Keep], every_ms: int = RETAIN_MS) -> None:
        self._bus = bus
        self._keeps = list(keeps)
        self._every_s = whole(every_ms, "a round in ms") / 1000
        self._trouble = Trouble("retention", _log)
        self._stopping = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def stop(self) -> None:
        """End after the round under way."""
        from_anywhere(self._loop, self._stopping.set)

    async def run(self) -> None:
        """Trim until `stop`; trouble with the server is waited out."""
        self._loop = asyncio.get_running_loop()
        trouble, wait_s = self._trouble, 0.0
        while not await within(self._stopping, wait_s):
            if fault := await self._bus.run(trim_each(self._keeps)):
                wait_s = max(self._every_s, trouble.met(fault))
            else:
                trouble.over()
                wait_s = self._every_s
