"""A worker of one queue: claims from the ring and from flat pending, runs the handler in threads,
settles under the lease's token.

What has ended and what comes next travel together, in one round trip, and where handlers are quick,
jobs are taken ahead of them. With nothing to do it rests on a watch, which hears of new work at
once. `concurrency` threads handle; one limits the handlers' time, where it is limited. A job whose
worker dies comes back when its lease ends, by a pump.
"""

from __future__ import annotations

from queue_core.errors import EchoMQError
from queue_core.keys import queue
from queue_core.numbers import whole
from queue_core.quoting import quoted
from queue_core.work.hands import Handler, Hands, ThreadHands
from queue_core.work.ledger import Ledger
from queue_core.work.lookout import Lookout
from queue_core.work.loops import (
    BEAT_MS,
    DEFAULT_POLICY,
    DRAIN_S,
    LEASE_MS,
    Loop,
    Serves,
)
from queue_core.work.presence import worker_id
from queue_core.work.serving import Policy
from queue_core.work.task_hands import AsyncHandler, LoopHands, is_awaited

AHEAD = 128


class Consumer(Loop):
    """Serves one queue until `stop`.

    `handler` takes a `Task` and answers a `Verdict`, or None for done; what it raises is the
    attempt's failure. A coroutine function gets an `AsyncTask` and runs, `concurrency` at once, in
    an event loop that the worker keeps in a thread of its own.

    `lease_ms` is how long a claim holds without a beat. `beat_ms` is how long it rests where
    nothing waits and the server does not tell of changes; where it does, work is heard of at once
    and looked for every `HEARD_BEATS` beats. `drain_s` is what the jobs in hand get to end after
    `stop`.

    `ahead` bounds the jobs that it holds beyond `concurrency` while handlers take a few ms only
    (0: none). They are leased like the others, none of them was ever tried before, and those that
    no handler starts are given back, after `WAITED_S` and at `stop`.

    `weighted` takes each lane's weight of jobs in its turn of the ring, not one.

    A handler that runs over `timeout_ms` (None: no limit) fails its attempt at that moment, and
    what it answers later counts for nothing. A coroutine is cancelled and its place is free at
    once, even if it takes its time to end. A thread cannot be ended from outside: `task.cancel` is
    asked, and until the handler looks at it and returns it keeps its place of `concurrency`.

    `faults` counts what the bus could not serve; `telemetry` tells of each, and of every job.
    """

    def __init__(
        self,
        bus: Serves,
        name: bytes | str,
        handler: Handler | AsyncHandler,
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
        kind = LoopHands if awaited else ThreadHands
        hands: Hands = kind(handler, concurrency, timeout_ms, self._told)
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

    def _serve(self, now: float) -> None:
        """Take a turn, or rest."""
        dry = self._lookout.rests(now)
        want = None if dry or self._quiet else self._ledger.want()
        if want is None and not self._ledger.unsettled:
            if dry:
                self._rest(self._lookout.look_at - now, self._ledgers)
            else:
                self._rest(self._beat_s)
            return
        try:
            if want is not None and self._lookout.short:
                found = self._watch.look(self._lookout.call)
                if not (self._lookout.looked(found) or self._ledger.unsettled):
                    self._trouble.over()
                    return
            taken = self._bus.run(self._ledger.turn(want, self._task_of(self.q)))
        except EchoMQError as fault:
            self._stopping.wait(self._trouble.met(fault))
            self._lookout.failed()
            return
        self._trouble.over()
        if want is not None:
            self._lookout.came(want.size, taken)

    def _hear(self, ledger: Ledger) -> None:  # noqa: ARG002 (there is one)
        self._lookout.hear()
