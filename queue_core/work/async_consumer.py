"""A worker of one queue for asyncio: as `consumer.py`, with tasks in place of threads.

Each job in hand has a task that handles it, or a thread where the handler is no coroutine function.
"""

from __future__ import annotations

import time

from queue_core.errors import EchoMQError
from queue_core.keys import queue
from queue_core.numbers import whole
from queue_core.quoting import quoted
from queue_core.work.async_loops import AsyncLoop, AsyncServes, within
from queue_core.work.consumer import AHEAD
from queue_core.work.hands import Handler, Hands, ThreadHands
from queue_core.work.ledger import Ledger
from queue_core.work.loops import BEAT_MS, DEFAULT_POLICY, DRAIN_S, HEARD_BEATS, LEASE_MS
from queue_core.work.presence import worker_id
from queue_core.work.serving import Policy
from queue_core.work.task_hands import AsyncHandler, TaskHands, is_awaited
from queue_core.work.turns import look, waits


class AsyncConsumer(AsyncLoop):
    """Serves one queue until `stop`; `Consumer` says what the options mean.

    `handler` is a coroutine function, which gets an `AsyncTask`, or a plain one, which gets a
    `Task` and runs in a thread. One that runs over `timeout_ms` fails its attempt at that moment.
    An awaited one is cancelled and its place is free at once, even if it takes its time to end;
    a thread cannot be ended from outside: `task.cancel` is asked, and its place is taken until it
    returns. `stop` and `quiet` may be called from any thread. Cancelling whoever awaits
    `run` is the hard stop: handlers are cancelled, nothing more is settled, jobs return when their
    leases end.
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
        self.worker = worker_id(label, [self.q.name])
        beat_s = whole(beat_ms, "a beat in ms") / 1000
        awaited = is_awaited(handler)
        kind, told = (TaskHands, self._told_here) if awaited else (ThreadHands, self._told)
        hands: Hands = kind(handler, concurrency, timeout_ms, told)
        self._ledger = Ledger(
            self.q, self.worker, hands, concurrency=concurrency, lease_ms=lease_ms,
            policy=policy, ahead=ahead, weighted=weighted,
        )  # fmt: skip
        super().__init__(
            bus, hands, [self._ledger], name=f"consumer of {quoted(self.q.name)}", awaited=awaited,
            lease_ms=lease_ms, drain_s=drain_s,
        )  # fmt: skip
        self._watch = self._watches[0]
        self._look = look(self.q)
        self._beat_s = beat_s
        self._beat_at = 0.0
        self._short, self._dry = True, False

    async def _serve(self, now: float) -> None:
        """Take a turn, or rest. `short`: the last claim found less than it wanted, so that the
        watch is set before the next one; `dry`: then nothing waited, or that one found nothing, so
        only a change makes another worth its while. What was heard of is claimed at once, and the
        watch set when its handler has it."""
        self._dry = self._dry and now < self._beat_at
        want = None if self._dry or self._quiet else self._ledger.want()
        if want is None and not self._ledger.unsettled:
            if self._dry:
                await self._rest(self._beat_at - now, self._ledgers)
            else:
                await self._rest(self._beat_s)
            return
        try:
            if want is not None and self._short:
                found = await self._watch.look(self._look)
                beats = HEARD_BEATS if found is not None else 1
                self._beat_at = time.monotonic() + self._beat_s * beats
                if not (waits(found) or self._ledger.unsettled):
                    self._dry = True
                    self._trouble.over()
                    return
            taken = await self._bus.run(self._ledger.turn(want, self._task_of(self.q)))
        except EchoMQError as fault:
            await within(self._stopping, self._trouble.met(fault))
            self._short, self._dry = True, False
            return
        self._trouble.over()
        if want is not None and taken is not None:
            self._dry = self._short and not taken
            self._short = taken < want.size

    def _hear(self, ledger: Ledger) -> None:  # noqa: ARG002 (there is one)
        self._short, self._dry = self._short and not self._dry, False
