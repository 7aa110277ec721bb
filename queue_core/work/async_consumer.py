"""A worker of one queue for asyncio: as `consumer.py`, with tasks in place of threads.

The task that awaits `run` is the only one that settles and claims, both in one round trip, and
rests on a watch that hears of new work; each job in hand has a task that handles it, or a thread
where the handler is no coroutine function; one task beats.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from typing import Protocol

from queue_core.async_watches import AsyncWatch, AsyncWatches
from queue_core.errors import EchoMQError
from queue_core.jobs import Lease
from queue_core.keys import queue
from queue_core.work.consumer import (
    AHEAD,
    BEAT_MS,
    DEFAULT_POLICY,
    DRAIN_S,
    HEARD_BEATS,
    HEARTBEAT_S,
    LEASE_MS,
)
from queue_core.work.hands import Handler, Hands, ThreadHands
from queue_core.work.ledger import Ledger
from queue_core.work.presence import worker_id
from queue_core.work.serving import Policy
from queue_core.work.task import AsyncRuns, AsyncTask, Attempt, Task
from queue_core.work.task_hands import AsyncHandler, FromThread, TaskHands, is_awaited
from queue_core.work.trouble import Trouble
from queue_core.work.turns import Want, look, waits

_log = logging.getLogger(__name__)


class AsyncServes(AsyncRuns, AsyncWatches, Protocol):
    """An awaited bus that gives watches."""


async def within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event so long; whether it came."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return event.is_set()


class AsyncConsumer:
    """Serves one queue until `stop`; `Consumer` says what the options mean.

    `handler` is a coroutine function, which gets an `AsyncTask`, or a plain one, which gets a
    `Task` and runs in a thread. One that runs over `timeout_ms` fails its attempt at that moment.
    An awaited one is cancelled and its place is free at once, even if it takes its time to end;
    a thread cannot be ended from outside: `task.cancel` is asked, and its place is taken until it
    returns. `stop` and `quiet` belong to the loop's thread. Cancelling whoever awaits `run` is the
    hard stop: handlers are cancelled, nothing more is settled, jobs return when their leases end.
    """

    def __init__(
        self,
        bus: AsyncServes,
        name: bytes | str,
        handler: AsyncHandler | Handler,
        *,
        concurrency: int = 1,
        lease_ms: int = LEASE_MS,
        beat_ms: int = BEAT_MS,
        policy: Policy = DEFAULT_POLICY,
        drain_s: float = DRAIN_S,
        timeout_ms: int | None = None,
        ahead: int = AHEAD,
        weighted: bool = False,
        label: str = "",
    ) -> None:
        self.q = queue(name)
        self.worker = worker_id(label)
        self._bus = bus
        self._lease_ms = lease_ms
        self._beat_ms = beat_ms
        self._drain_s = drain_s
        self._stopping = asyncio.Event()
        self._ended = asyncio.Event()
        self._changed = asyncio.Event()
        self._watch: AsyncWatch = bus.watch(self.q.pending, self._changed)
        self._look = look(self.q)
        self._quiet = False
        self._awaited = is_awaited(handler)
        self._hands: Hands = (
            TaskHands(handler, concurrency, timeout_ms, self._changed.set)
            if self._awaited
            else ThreadHands(handler, concurrency, timeout_ms, self._told)
        )
        self._ledger = Ledger(
            self.q, self.worker, self._hands, concurrency=concurrency, lease_ms=lease_ms,
            policy=policy, ahead=ahead, weighted=weighted,
        )  # fmt: skip
        self._trouble = Trouble(f"consumer of {self.q.name!r}", _log)
        self._loop: asyncio.AbstractEventLoop

    # ---- what others may ask -----------------------------------------------------------------

    def stop(self) -> None:
        """Claim nothing more; `run` returns when the jobs in hand are settled."""
        self._stopping.set()
        self._changed.set()

    def quiet(self, on: bool = True) -> None:
        """Claim nothing more, but stay; or go on."""
        self._quiet = on
        self._changed.set()

    @property
    def in_hand(self) -> int:
        """Jobs claimed and not settled yet."""
        return self._ledger.in_hand

    @property
    def faults(self) -> int:
        """How often the bus could not serve it since it was made."""
        return self._trouble.faults

    # ---- the loop ----------------------------------------------------------------------------

    async def run(self) -> bool:
        """Serve until `stop`. Answers whether every job in hand was settled in time; what was
        not comes back when its lease ends."""
        self._loop = asyncio.get_running_loop()
        self._hands.start()
        beat = asyncio.create_task(self._beat())
        try:
            await self._serve()
            drained = await self._drain()
            self._ended.set()
            await asyncio.wait({beat}, timeout=2 * HEARTBEAT_S)
        finally:
            self._ended.set()
            self._hands.end()
            self._ledger.forget()
            self._watch.close()
            beat.cancel()
            await asyncio.gather(beat, return_exceptions=True)
        return drained

    async def _serve(self) -> None:
        """Take turns. `short`: the last claim found less than it wanted, so that the watch is set
        before the next one; `dry`: then nothing waited, or that one found nothing, so only a
        change or a beat makes another worth its while. What was heard of is claimed at once, and
        the watch set when its handler has it."""
        short, dry, beat_at = True, False, 0.0
        while not self._stopping.is_set():
            now = await self._collect()
            if dry and (self._watch.heard or now >= beat_at):
                short, dry = not self._watch.heard, False
            want = None if dry else self._want()
            if want is None and not self._ledger.unsettled:
                await self._rest(beat_at - now if dry else self._beat_ms / 1000, dry)
                continue
            try:
                if want is not None and short:
                    self._watch.taken()
                    found = await self._watch.look(self._look)
                    beats = HEARD_BEATS if found is not None else 1
                    beat_at = time.monotonic() + self._beat_ms * beats / 1000
                    if not waits(found):
                        dry = True
                        self._trouble.over()
                        continue
                taken = await self._bus.run(self._ledger.turn(want, self._task_of))
            except EchoMQError as fault:
                await within(self._stopping, self._trouble.met(fault))
                short, dry = True, False
                continue
            self._trouble.over()
            if want is not None and taken is not None:
                dry = short and not taken
                short = taken < want.size

    async def _drain(self) -> bool:
        """Give back what was not begun, and settle what is in hand while there is time."""
        deadline = time.monotonic() + self._drain_s
        await self._bus.run(self._ledger.give_back())
        while (now := await self._collect()) < deadline and self.in_hand:
            if not self._ledger.unsettled:
                await self._rest(deadline - now, False)
                continue
            try:
                await self._bus.run(self._ledger.turn(None, self._task_of))
            except EchoMQError as fault:
                await asyncio.sleep(min(self._trouble.met(fault), deadline - now))
            else:
                self._trouble.over()
        if self.in_hand:
            _log.error("%d jobs are left unsettled; they return by lease", self.in_hand)
        return not self.in_hand

    def _want(self) -> Want | None:
        return None if self._quiet else self._ledger.want()

    def _task_of(self, lease: Lease) -> Attempt:
        if self._awaited:
            return AsyncTask(self._bus, self.q, lease)
        return Task(FromThread(self._bus, self._loop), self.q, lease)

    async def _collect(self) -> float:
        """Take over what has ended, and give back what nobody begins; answers the time. What
        changes from here on ends the next rest."""
        self._changed.clear()
        now = time.monotonic()
        if self._ledger.collect(now):
            await self._bus.run(self._ledger.give_back())
        return now

    # ---- rest --------------------------------------------------------------------------------

    async def _rest(self, timeout_s: float, dry: bool) -> None:
        """Wait for whatever changes; where it is `dry`, also for new work."""
        timeout_s = self._ledger.patience(timeout_s)
        if dry and not self._watch.tracks:
            self._watch.park(self.q.wake, timeout_s)
        await within(self._changed, timeout_s)

    def _told(self) -> None:
        """Called by the threads of handlers, which may outlive the loop."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._changed.set)

    # ---- the beat ----------------------------------------------------------------------------

    async def _beat(self) -> None:
        every_s = min(HEARTBEAT_S, self._lease_ms / 3000)
        while True:
            wait_s = every_s
            try:
                await self._bus.run(self._ledger.beat(self._quiet or self._stopping.is_set()))
                self._trouble.over("beat")
            except EchoMQError as fault:
                wait_s = min(every_s, self._trouble.met(fault, "beat"))
            if await within(self._ended, wait_s):
                break
        try:
            await self._bus.run(self._ledger.presence.leave())
        except EchoMQError:
            _log.debug("the bus was not told of the end of %r", self.worker)
