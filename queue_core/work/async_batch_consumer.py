"""A worker that takes its jobs by the batch, for asyncio: as `batch_consumer.py`, awaited."""

from __future__ import annotations

import time

from queue_core.errors import EchoMQError
from queue_core.keys import queue
from queue_core.numbers import whole
from queue_core.plans import single
from queue_core.quoting import quoted
from queue_core.verbs.claims import MOST
from queue_core.work.async_loops import AsyncLoop, AsyncServes, within
from queue_core.work.gathering import MIN_SIZE, POLL_MS, WINDOW_MS, Gathering, Size
from queue_core.work.hands import ThreadHands
from queue_core.work.ledger import Ledger
from queue_core.work.loops import BEAT_MS, DEFAULT_POLICY, DRAIN_S, LEASE_MS
from queue_core.work.piles import (
    AsyncBatchHandler,
    BatchHandler,
    BatchHands,
    BatchLedger,
    handling,
)
from queue_core.work.presence import worker_id
from queue_core.work.serving import Policy
from queue_core.work.task_hands import TaskHands, is_awaited
from queue_core.work.turns import give_back


class AsyncBatchConsumer(AsyncLoop):
    """Serves one queue by the batch until `stop`; `BatchConsumer` says what the options mean.

    `handler` is a coroutine function, which gets `AsyncTask`s, or a plain one, which gets `Task`s
    and runs in a thread. `stop` and `quiet` may be called from any thread. Cancelling whoever
    awaits `run` is the hard stop: handlers are cancelled, nothing more is settled, jobs return when
    their leases end.
    """

    def __init__(
        self,
        bus: AsyncServes,
        name: bytes | str,
        handler: BatchHandler | AsyncBatchHandler,
        *,
        min_size: int = MIN_SIZE,
        max_size: int = MOST,
        window_ms: int = WINDOW_MS,
        lanes: bool = False,
        concurrency: int = 1,
        poll_ms: int = POLL_MS,
        lease_ms: int = LEASE_MS,
        beat_ms: int = BEAT_MS,
        policy: Policy = DEFAULT_POLICY,
        drain_s: float = DRAIN_S,
        timeout_ms: int | None = None,
        label: str = "",
    ) -> None:
        self.q = queue(name)
        self.worker = worker_id(label, [self.q.name])
        awaited = is_awaited(handler)
        size = Size(min_size, max_size)
        self._gathering = Gathering(self.q, size, window_ms, poll_ms, beat_ms, lanes)
        kind, told = (TaskHands, self._told_here) if awaited else (ThreadHands, self._told)
        inner = kind(
            handling(handler, awaited), whole(concurrency, "batches at once"), timeout_ms,
            told,
        )  # fmt: skip
        self._places = BatchHands(inner, concurrency, told)
        self._ledger = BatchLedger(
            self.q, self.worker, self._places, concurrency=concurrency * max_size,
            lease_ms=lease_ms, policy=policy, ahead=0, weighted=False,
        )  # fmt: skip
        self._beat_ms = beat_ms
        self._not_before = 0.0
        super().__init__(
            bus, self._places, [self._ledger], name=f"batches of {quoted(self.q.name)}",
            awaited=awaited, lease_ms=lease_ms, drain_s=drain_s,
        )  # fmt: skip

    async def _serve(self, now: float) -> None:
        if now < self._not_before:
            await within(self._stopping, self._not_before - now)
        elif self._ledger.unsettled:
            self._not_before = now + await self._settle([self._ledger])
        elif self._quiet or not self._places.idle:
            await self._rest(self._beat_ms / 1000)
        elif now < self._gathering.look_at:
            await self._rest(self._gathering.look_at - now, self._ledgers)
        else:
            try:
                await self._take(now)
            except EchoMQError as fault:
                self._not_before = now + self._noted(self._ledger, fault)
            else:
                self._noted(self._ledger, None)

    def _hear(self, ledger: Ledger) -> None:  # noqa: ARG002 (there is one)
        self._gathering.hear()

    async def _take(self, now: float) -> None:
        """Look, and claim a batch if one is due."""
        reply = await self._watches[0].look(self._gathering.call)
        told = reply is not None
        if not told:
            reply = await self._bus.run(single(self._gathering.call))
        choice = self._gathering.choose(self._gathering.found(reply), now, told)
        if choice is not None:
            leases = await self._bus.run(choice.claim(self.q, self._lease_ms, self.worker))
            self._gathering.claimed(choice, len(leases), time.monotonic())
            if leases and self._stopping.is_set():
                await self._bus.run(give_back(self.q, leases))
            elif leases:
                self._ledger.begin(leases, self._task_of(self.q))
