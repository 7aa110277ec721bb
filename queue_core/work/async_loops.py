"""What loops of an asyncio program share: as `loops.py`, awaited."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Protocol

from queue_core.async_watches import AsyncWatch, AsyncWatches
from queue_core.errors import UnavailableError
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.plans import Plan
from queue_core.work.hands import Hands
from queue_core.work.ledger import Ledger
from queue_core.work.task import AsyncRuns, AsyncTask, Attempt, Task
from queue_core.work.task_hands import FromThread
from queue_core.work.trouble import Trouble
from queue_core.work.worker import HEARTBEAT_S, Worker

LEAVE_S = 1.0
"""What a loop that is cancelled, or falls, gets to take its words back."""

_log = logging.getLogger(__name__)


class AsyncServes(AsyncRuns, AsyncWatches, Protocol):
    """An awaited bus that gives watches and runs plans together."""

    async def run_all(self, plans: Sequence[Plan[Any]]) -> list[Any]:
        """Results in order, faults as values."""


async def within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event so long; whether it came."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return event.is_set()


def from_anywhere(loop: asyncio.AbstractEventLoop | None, *changes: Callable[[], object]) -> None:
    """Make changes that can be made twice: at once in the loop's own thread, and in the loop's
    next turn, which other threads and signal handlers wake it for. None is the loop that has not
    begun."""
    here = loop is None or asyncio._get_running_loop() is loop
    for change in changes:
        if here:
            change()
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # it has ended; there is nothing to wake
                loop.call_soon_threadsafe(change)


class AsyncLoop(Worker, ABC):
    """One worker of some queues. A subclass says how it serves them."""

    def __init__(
        self,
        bus: AsyncServes,
        hands: Hands,
        ledgers: Sequence[Ledger],
        *,
        name: str,
        awaited: bool,
        lease_ms: int,
        drain_s: float,
    ) -> None:
        trouble = Trouble(name, _log)
        super().__init__(hands, ledgers, trouble, lease_ms=lease_ms, drain_s=drain_s)
        self._bus = bus
        self._changed = asyncio.Event()
        self._watches: list[AsyncWatch] = [
            bus.watch(ledger.q.pending, self._changed) for ledger in ledgers
        ]
        self._awaited = awaited
        self._stopping = asyncio.Event()
        self._ended = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    # ---- what others may ask -----------------------------------------------------------------

    def stop(self) -> None:
        """Claim nothing more; `run` returns when what is in hand is settled."""
        from_anywhere(self._loop, self._stopping.set, self._changed.set)

    def quiet(self, on: bool = True) -> None:
        """Claim nothing more, but stay; or go on."""
        self._quiet = on
        from_anywhere(self._loop, self._changed.set)

    # ---- the loop ----------------------------------------------------------------------------

    async def run(self) -> bool:
        """Serve until `stop`. Answers whether every job in hand was settled in time; what was
        not comes back when its lease ends."""
        self._once.begin()
        self._loop = asyncio.get_running_loop()
        beat = asyncio.create_task(self._beat())
        try:
            self._hands.start()
            while not self._stopping.is_set():
                self._stand()
                await self._serve(await self._collect())
            drained = await self._drain()
            self._ended.set()
            await asyncio.wait({beat}, timeout=2 * HEARTBEAT_S)
        finally:
            self._ended.set()
            self._hands.end()
            for ledger, watch in zip(self._ledgers, self._watches, strict=True):
                ledger.note()
                ledger.forget()
                watch.close()
            await asyncio.wait({beat}, timeout=LEAVE_S)
            beat.cancel()
            await asyncio.gather(beat, return_exceptions=True)
        return drained

    @abstractmethod
    async def _serve(self, now: float) -> None:
        """One step: settle, claim, or rest."""

    @abstractmethod
    def _hear(self, ledger: Ledger) -> None:
        """Something of a queue has changed, or may have."""

    async def _collect(self) -> float:
        """Take over what has ended, and give back what nobody begins; answers the time. What
        changes from here on ends the next rest."""
        self._changed.clear()
        now = time.monotonic()
        for ledger in self._at_work():
            if ledger.collect(now):
                await self._bus.run(ledger.give_back())
        for watch, ledger in zip(self._watches, self._ledgers, strict=True):
            if watch.taken():
                self._hear(ledger)
        return now

    async def _drain(self) -> bool:
        """Give back what was not begun, and settle what is in hand while there is time."""
        deadline = time.monotonic() + self._drain_s
        await self._bus.run_all([ledger.give_back() for ledger in self._ledgers])
        now = await self._collect()
        while self.in_hand:
            owing = [ledger for ledger in self._ledgers if ledger.unsettled]
            try:
                wait_s = await self._settle(owing) if owing else 0.0
            except UnavailableError:
                break  # the bus was closed: nothing is settled any more
            if now >= deadline:
                break  # what had ended by then is settled, too
            if wait_s:
                await asyncio.sleep(min(wait_s, deadline - now))
            elif not owing:
                await self._rest(deadline - now)
            now = await self._collect()
        if self.in_hand:
            _log.error("%d jobs are left unsettled; they return by lease", self.in_hand)
        return not self.in_hand

    async def _settle(self, owing: Sequence[Ledger]) -> float:
        """Settle what these owe and claim nothing; answers how many seconds to wait after."""
        answers = await self._bus.run_all([one.turn(None, self._task_of(one.q)) for one in owing])
        return max(self._noted(one, answer) for one, answer in zip(owing, answers, strict=True))

    def _task_of(self, q: QueueKeys) -> Callable[[Lease], Attempt]:
        """What makes tasks of leases of a queue."""
        if self._awaited:
            return partial(AsyncTask, self._bus, q)
        assert self._loop is not None
        return partial(Task, FromThread(self._bus, self._loop), q)

    # ---- rest --------------------------------------------------------------------------------

    async def _rest(self, timeout_s: float, dry: Collection[Ledger] = ()) -> None:
        """Wait for whatever changes, since things were collected; also for new work of those that
        are dry."""
        timeout_s = min(ledger.rest(timeout_s) for ledger in self._ledgers)
        for watch, ledger in zip(self._watches, self._ledgers, strict=True):
            if not watch.tracks and ledger in dry:
                watch.park(ledger.q.wake)
        await within(self._changed, timeout_s)

    def _told_here(self) -> None:
        """Called by the tasks of handlers."""
        self._changed.set()

    def _told(self) -> None:
        """Called by the threads of handlers, which may outlive the loop."""
        from_anywhere(self._loop, self._changed.set)

    # ---- the beat ----------------------------------------------------------------------------

    async def _beat(self) -> None:
        wait_s = 0.0
        while not await within(self._ended, wait_s):
            answers = await self._bus.run_all(self._beats(self._stopping.is_set()))
            try:
                wait_s = self._beaten(answers)
            except UnavailableError as closed:
                self._fell = closed
                self._changed.set()
                return
        await self._bus.run_all(self._farewells())
