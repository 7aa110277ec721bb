"""A worker of one queue for asyncio: as `consumer.py`, with tasks in place of threads.

The task that awaits `run` claims, as many at once as there is room for, and rests on a watch that
hears of new work; each job in hand has a task that settles it; one beats. An awaited handler runs
in the loop, another one in a thread.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from queue_core.async_watches import AsyncWatch, AsyncWatches
from queue_core.errors import EchoMQError
from queue_core.jobs import Lease
from queue_core.keys import queue
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.work.consumer import (
    BEAT_MS,
    DEFAULT_POLICY,
    DRAIN_S,
    HEARD_BEATS,
    HEARTBEAT_S,
    LEASE_MS,
)
from queue_core.work.hands import Handler
from queue_core.work.presence import Presence, worker_id
from queue_core.work.serving import (
    Held,
    Policy,
    announce,
    extend_all,
    held_by,
    park,
    settle_by,
    waited_ms,
)
from queue_core.work.task import AsyncRuns, AsyncTask, Attempt, Task
from queue_core.work.trouble import Trouble
from queue_core.work.turns import Want, look, turn
from queue_core.work.verdicts import Verdict, failure, overtime, verdict_of

T = TypeVar("T")

AsyncHandler = Callable[[AsyncTask], Awaitable[Verdict | None]]

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


@dataclass(frozen=True, slots=True)
class _FromThread:
    """The loop's bus as a thread of one of its handlers sees it."""

    bus: AsyncRuns
    loop: asyncio.AbstractEventLoop

    def run(self, plan: Plan[T]) -> T:
        """The plan's result; the thread waits for it."""
        return asyncio.run_coroutine_threadsafe(self.bus.run(plan), self.loop).result()


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
        weighted: bool = False,
        label: str = "",
    ) -> None:
        self.q = queue(name)
        self.worker = worker_id(label)
        self._bus = bus
        self._handler: Callable[[Any], Any] = handler
        self._awaited = _is_awaited(handler)
        self._concurrency = concurrency
        self._lease_ms = lease_ms
        self._beat_ms = beat_ms
        self._policy = policy
        self._drain_s = drain_s
        self._timeout_ms = timeout_ms
        self._weighted = weighted
        self._presence = Presence(self.q, self.worker, concurrency)
        self._held: dict[Held, Attempt] = {}
        self._jobs: set[asyncio.Task[None]] = set()
        self._late: set[asyncio.Future[Any]] = set()
        self._stopping = asyncio.Event()
        self._ended = asyncio.Event()
        self._changed = asyncio.Event()
        self._watch: AsyncWatch = bus.watch(self.q.pending, self._changed)
        self._look = look(self.q)
        self._quiet = False
        self._taken = 0
        self._turn = 0

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
        return len(self._held)

    # ---- the loop ----------------------------------------------------------------------------

    async def run(self) -> bool:
        """Serve until `stop`. Answers whether every job in hand was settled in time; what was
        not comes back when its lease ends."""
        pool = ThreadPoolExecutor(self._concurrency, thread_name_prefix="handler")
        beat = asyncio.create_task(self._beat())
        try:
            await self._serve(pool)
            drained = await self._drain()
            self._ended.set()
            await asyncio.wait({beat}, timeout=2 * HEARTBEAT_S)
        finally:
            self._ended.set()
            ending = {beat, *self._jobs}
            for task in ending:
                task.cancel()
            await asyncio.gather(*ending, return_exceptions=True)
            pool.shutdown(wait=False, cancel_futures=True)
            self._watch.close()
        return drained

    async def _serve(self, pool: ThreadPoolExecutor) -> None:
        """Claim while there is room and work. `short`: the last claim found less than it wanted, so
        that the watch is set before the next one; `dry`: that one found nothing, so only a change
        or a beat makes another worth its while."""
        trouble = Trouble(f"consumer of {self.q.name!r}", _log)
        short, dry, beat_at = True, False, 0.0
        while not self._stopping.is_set():
            self._changed.clear()
            now, free = time.monotonic(), self._concurrency - self._taken
            dry = dry and now < beat_at and not self._watch.heard
            try:
                if self._quiet or free < 1:
                    await self._changed.wait()
                    continue
                if dry:
                    await self._rest(beat_at - now)
                    continue
                if short:
                    await self._watch.look(self._look)
                    beat_at = time.monotonic() + self._rest_s
                leases = await self._claim(free)
            except EchoMQError as fault:
                await within(self._stopping, trouble.met(fault))
                short, dry = True, False
                continue
            trouble.over()
            if leases is not None:
                dry = short and not leases
                short = len(leases) < free
                for lease in leases:
                    self._take_in_hand(pool, lease)

    async def _claim(self, free: int) -> list[Lease] | None:
        """Up to so many jobs; None where only ghosts were met, and it is worth asking again."""
        self._turn += 1
        want = Want(free, free, self._lease_ms, self.worker, self._turn, self._weighted)
        _, taken = await self._bus.run(turn(self.q, (), self._policy, want))
        if isinstance(taken, EchoMQError):
            raise taken
        return taken

    async def _rest(self, timeout_s: float) -> None:
        """Wait for new work, or for whatever else changes; where the server does not tell, for a
        wake of the ring, a beat at most."""
        if self._watch.tracks:
            await within(self._changed, timeout_s)
        else:
            await self._bus.run(park(self.q, self._beat_ms))

    @property
    def _rest_s(self) -> float:
        return self._beat_ms * (HEARD_BEATS if self._watch.tracks else 1) / 1000

    def _take_in_hand(self, pool: ThreadPoolExecutor, lease: Lease) -> None:
        self._taken += 1
        job = asyncio.create_task(self._handle(pool, lease))
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    def _free(self, _ended: object = None) -> None:
        self._taken -= 1
        self._changed.set()

    async def _drain(self) -> bool:
        if self._jobs:
            await asyncio.wait(self._jobs, timeout=self._drain_s)
        if self._held:
            _log.error("%d jobs are left unsettled; they return by lease", len(self._held))
        return not self._held

    # ---- one job -----------------------------------------------------------------------------

    async def _handle(self, pool: ThreadPoolExecutor, lease: Lease) -> None:
        began = time.monotonic()
        attempt, work = self._begin(pool, lease)
        self._held[held_by(lease)] = attempt
        try:
            verdict = await self._verdict(attempt, work)
            word = await self._settle(lease, verdict)
            if word is not None:
                run_ms = (time.monotonic() - began) * 1000
                self._presence.ran(waited_ms(lease, self._lease_ms), run_ms)
                await self._announce(lease, verdict, word)
        finally:
            self._held.pop(held_by(lease), None)
            if self._awaited or work.done():
                self._free()
            else:
                work.add_done_callback(self._free)

    def _begin(
        self, pool: ThreadPoolExecutor, lease: Lease
    ) -> tuple[Attempt, asyncio.Future[Verdict]]:
        """Start the handler, in the loop or in a thread."""
        if self._awaited:
            task = AsyncTask(self._bus, self.q, lease)
            return task, asyncio.ensure_future(self._awaiting(task))
        loop = asyncio.get_running_loop()
        threaded = Task(_FromThread(self._bus, loop), self.q, lease)
        return threaded, loop.run_in_executor(pool, self._calling, threaded)

    async def _awaiting(self, task: AsyncTask) -> Verdict:
        try:
            return verdict_of(await self._handler(task))
        except Exception as error:  # noqa: BLE001 (whatever a handler raises is its job's failure)
            return failure(error)

    def _calling(self, task: Task) -> Verdict:
        try:
            return verdict_of(self._handler(task))
        except Exception as error:  # noqa: BLE001 (whatever a handler raises is its job's failure)
            return failure(error)

    async def _verdict(self, attempt: Attempt, work: asyncio.Future[Verdict]) -> Verdict:
        """What the handler says, or that its time ran out. Whoever leaves early ends it."""
        limit_ms = self._timeout_ms
        try:
            await asyncio.wait({work}, timeout=None if limit_ms is None else limit_ms / 1000)
            if work.done():
                # A handler that cancelled itself has failed, and nothing else with it.
                return failure(asyncio.CancelledError()) if work.cancelled() else work.result()
            assert limit_ms is not None
            attempt.lose("timeout")
            return overtime(limit_ms)
        finally:
            if not work.done():
                attempt.lose(attempt.cancel.check() or "stop")
                self._leave(work)

    def _leave(self, work: asyncio.Future[Verdict]) -> None:
        """Let a handler that nobody waits for come to its end."""
        self._late.add(work)
        work.add_done_callback(self._late.discard)
        if self._awaited:
            work.cancel()

    async def _settle(self, lease: Lease, verdict: Verdict) -> Word | None:
        """Settle, as often as it takes: repeated, it is refused as stale or gone at worst. None
        where the worker was ended first."""
        trouble = Trouble(f"settle on {self.q.name!r}", _log)
        while not self._ended.is_set():
            try:
                word = await self._bus.run(settle_by(self.q, lease, verdict, self._policy))
            except EchoMQError as fault:
                await within(self._ended, trouble.met(fault))
                continue
            trouble.over()
            if word in (Word.stale, Word.gone):
                _log.warning("%r was no longer ours when it ended: %s", lease.id, word.value)
            return word
        return None

    async def _announce(self, lease: Lease, verdict: Verdict, word: Word) -> None:
        try:
            await self._bus.run(announce(self.q, lease, verdict, word))
        except EchoMQError:
            _log.debug("nobody was told of %r", lease.id)

    # ---- the beat ----------------------------------------------------------------------------

    async def _beat(self) -> None:
        every_s = min(HEARTBEAT_S, self._lease_ms / 3000)
        trouble = Trouble(f"beat on {self.q.name!r}", _log)
        while True:
            wait_s = every_s
            try:
                await self._extend()
                quiet = self._quiet or self._stopping.is_set()
                await self._bus.run(self._presence.heartbeat(self.in_hand, quiet))
                trouble.over()
            except EchoMQError as fault:
                wait_s = min(every_s, trouble.met(fault))
            if await within(self._ended, wait_s):
                break
        try:
            await self._bus.run(self._presence.leave())
        except EchoMQError:
            _log.debug("the bus was not told of the end of %r", self.worker)

    async def _extend(self) -> None:
        held = dict(self._held)
        for proof in await self._bus.run(extend_all(self.q, held, self._lease_ms)):
            attempt = held[proof]
            if proof in self._held and not attempt.lost:
                attempt.lose("lost")
                _log.warning("the lease of %r was lost while it was handled", attempt.id)


def _is_awaited(handler: Callable[..., Any]) -> bool:
    """Whether a handler is a coroutine function, or an object that is called like one."""
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(
        getattr(handler, "__call__", None)  # noqa: B004 (its nature is asked, not whether it is)
    )
