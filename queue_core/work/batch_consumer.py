"""A worker of one queue that takes its jobs by the batch (protocol part 6.4).

The thread that calls `run` looks how many wait, on a watch that hears of more, claims a batch when
one is due, has it handled as one, and settles its members each by itself, in one round trip.
"""

from __future__ import annotations

import time

from queue_core.errors import EchoMQError
from queue_core.keys import queue
from queue_core.numbers import whole
from queue_core.plans import single
from queue_core.quoting import quoted
from queue_core.verbs.claims import MOST
from queue_core.work.gathering import MIN_SIZE, POLL_MS, WINDOW_MS, Gathering, Size
from queue_core.work.hands import ThreadHands
from queue_core.work.ledger import Ledger
from queue_core.work.loops import BEAT_MS, DEFAULT_POLICY, DRAIN_S, LEASE_MS, Loop, Serves
from queue_core.work.piles import (
    AsyncBatchHandler,
    BatchHandler,
    BatchHands,
    BatchLedger,
    handling,
)
from queue_core.work.presence import worker_id
from queue_core.work.serving import Policy
from queue_core.work.task_hands import LoopHands, is_awaited
from queue_core.work.turns import give_back


class BatchConsumer(Loop):
    """Serves one queue by the batch until `stop`.

    `handler` takes a sequence of `Task` and answers a mapping of each one's id to its `Verdict`, or
    None for done. A member without a verdict, or with one that is none, fails by itself; an answer
    that is no mapping, and what the handler raises, fails them all. A coroutine function gets
    `AsyncTask`s and runs in a loop in a thread of its own.

    A batch goes when `min_size` jobs wait, or when `window_ms` have passed since the last one and
    any waits; it has at most `max_size` (up to 1,000). Flat jobs only, unless `lanes`: then each
    lane's jobs are a batch of their own, in turn with flat ones; a lane with a full batch goes
    before others, and the end of a window lets each lane that has something go once.

    `concurrency` is how many batches are handled at once, `timeout_ms` the limit on the handler's
    time for one: over it, all of its members have failed. Leases are extended member by member
    while it runs; a member whose lease was lost is told by its `task.lost`. Wait and run spans of
    presence are each member's, its run being that of its batch. `poll_ms` is the least between two
    looks at a batch that fills up, and the wait after a claim that found nothing. The
    other options, and what `stop`, `quiet`, `in_hand` and `faults` mean, are those of `Consumer`.
    """

    def __init__(
        self,
        bus: Serves,
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
        kind = LoopHands if awaited else ThreadHands
        inner = kind(
            handling(handler, awaited), whole(concurrency, "batches at once"), timeout_ms,
            self._told,
        )  # fmt: skip
        self._places = BatchHands(inner, concurrency, self._told)
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

    def _serve(self, now: float) -> None:
        if now < self._not_before:
            self._stopping.wait(self._not_before - now)
        elif self._ledger.unsettled:
            self._not_before = now + self._settle([self._ledger])
        elif self._quiet or not self._places.idle:
            self._rest(self._beat_ms / 1000)
        elif now < self._gathering.look_at:
            self._rest(self._gathering.look_at - now, self._ledgers)
        else:
            try:
                self._take(now)
            except EchoMQError as fault:
                self._not_before = now + self._noted(self._ledger, fault)
            else:
                self._noted(self._ledger, None)

    def _hear(self, ledger: Ledger) -> None:  # noqa: ARG002 (there is one)
        self._gathering.hear()

    def _take(self, now: float) -> None:
        """Look, and claim a batch if one is due."""
        reply = self._watches[0].look(self._gathering.call)
        told = reply is not None
        if not told:
            reply = self._bus.run(single(self._gathering.call))
        choice = self._gathering.choose(self._gathering.found(reply), now, told)
        if choice is not None:
            leases = self._bus.run(choice.claim(self.q, self._lease_ms, self.worker))
            self._gathering.claimed(choice, len(leases), time.monotonic())
            if leases and self._stopping.is_set():
                self._bus.run(give_back(self.q, leases))
            elif leases:
                self._ledger.begin(leases, self._task_of(self.q))
