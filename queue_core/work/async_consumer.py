"""A worker of one queue for asyncio: as `consumer.py`, with tasks in place of threads.

Each job in hand has a task that handles it, or a thread where the handler is no coroutine function.
"""

from __future__ import annotations

from queue_core.errors import EchoMQError
from queue_core.keys import queue
from queue_core.numbers import whole
from queue_core.quoting import quoted
from queue_core.work.async_loops import AsyncLoop, AsyncServes, within
from queue_core.work.consumer import AHEAD
from queue_core.work.hands import Handler, Hands, ThreadHands
from queue_core.work.ledger import Ledger
from queue_core.work.lookout import Lookout
from queue_core.work.loops import BEAT_MS, DEFAULT_POLICY, DRAIN_S, LEASE_MS
from queue_core.work.presence import worker_id
from queue_core.work.serving import Policy
from queue_core.work.task_hands import AsyncHandler, TaskHands, is_awaited


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
        self._beat_s = beat_s
        self._lookout = Lookout(self.q, beat_s)

    async def _serve(self, now: float) -> None:
        """Take a turn, or rest."""
        dry = self._lookout.rests(now)
        want = None if dry or self._quiet else self._ledger.want()
        if want is None and not self._ledger.unsettled:
            if dry:
                await self._rest(self._lookout.look_at - now, self._ledgers)
            else:
                await self._rest(self._beat_s)
            return
        try:
            if want is not None and self._lookout.short:
                found = await self._watch.look(self._lookout.call)
                if not (self._lookout.looked(found) or self._ledger.unsettled):
                    self._trouble.over()
                    return
            taken = await self._bus.run(self._ledger.turn(want, self._task_of(self.q)))
        except EchoMQError as fault:
            await within(self._stopping, self._trouble.met(fault))
            self._lookout.failed()
            return
        self._trouble.over()
        if want is not None:
            self._lookout.came(want.size, taken)

    def _hear(self, ledger: Ledger) -> None:  # noqa: ARG002 (there is one)
        self._lookout.hear()
