"""A worker of one queue: claims from the ring and from flat pending, runs the handler in threads,
settles under the lease's token.

The thread that calls `run` is the only one that settles and claims: what has ended and what comes
next travel together, in one round trip, and where handlers are quick, jobs are taken ahead of them.
With nothing to do it rests on a watch, which hears of new work at once. `concurrency` threads
handle; one beats: it extends the leases in hand and says on the bus that the worker lives; one
limits the handlers' time, where it is limited. Trouble with the server ends none of them. A job
whose worker dies comes back when its lease ends, by a pump.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Protocol

from queue_core.errors import EchoMQError
from queue_core.jobs import Lease
from queue_core.keys import queue
from queue_core.watches import Watch, Watches
from queue_core.work.backoff import exponential, jitter
from queue_core.work.hands import Handler, Hands, ThreadHands
from queue_core.work.ledger import Ledger
from queue_core.work.presence import worker_id
from queue_core.work.serving import Policy
from queue_core.work.task import AsyncTask, Attempt, Runs, Task
from queue_core.work.task_hands import AsyncHandler, Awaited, LoopHands, is_awaited
from queue_core.work.trouble import Trouble
from queue_core.work.turns import Want, look, waits

LEASE_MS = 30_000
BEAT_MS = 1_000
HEARD_BEATS = 5
"""Beats between two looks where the server tells of changes: the look is for what it cannot tell,
a window of a rate limit that ends, say."""

HEARTBEAT_S = 4.0
DRAIN_S = 15.0
AHEAD = 64

DEFAULT_POLICY = Policy(jitter(exponential(1_000, 60_000)), max_attempts=3)


class Serves(Runs, Watches, Protocol):
    """A blocking bus that gives watches."""


_log = logging.getLogger(__name__)


class Consumer:
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
        self.worker = worker_id(label)
        self._bus = bus
        self._lease_ms = lease_ms
        self._beat_ms = beat_ms
        self._drain_s = drain_s
        self._watch: Watch = bus.watch(self.q.pending)
        self._look = look(self.q)
        self._awaited = Awaited(bus) if is_awaited(handler) else None
        kind = ThreadHands if self._awaited is None else LoopHands
        self._hands: Hands = kind(handler, concurrency, timeout_ms, self._told)
        self._ledger = Ledger(
            self.q, self.worker, self._hands, concurrency=concurrency, lease_ms=lease_ms,
            policy=policy, ahead=ahead, weighted=weighted,
        )  # fmt: skip
        self._trouble = Trouble(f"consumer of {self.q.name!r}", _log)
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._quiet = threading.Event()
        self._resting = False

    # ---- what others may ask -----------------------------------------------------------------

    def stop(self) -> None:
        """Claim nothing more; `run` returns when the jobs in hand are settled."""
        self._stopping.set()
        self._watch.nudge()

    def quiet(self, on: bool = True) -> None:
        """Claim nothing more, but stay; or go on."""
        if on:
            self._quiet.set()
        else:
            self._quiet.clear()
        self._watch.nudge()

    @property
    def in_hand(self) -> int:
        """Jobs claimed and not settled yet."""
        return self._ledger.in_hand

    @property
    def faults(self) -> int:
        """How often the bus could not serve it since it was made."""
        return self._trouble.faults

    # ---- the loop ----------------------------------------------------------------------------

    def run(self) -> bool:
        """Serve until `stop`. Answers whether every job in hand was settled in time; what was
        not comes back when its lease ends."""
        beater = threading.Thread(target=self._beat, name=f"beat {self.worker!r}", daemon=True)
        beater.start()
        self._hands.start()
        try:
            self._serve()
            drained = self._drain()
        finally:
            self._ended.set()
            self._hands.end()
            self._watch.close()
        beater.join(2 * HEARTBEAT_S)
        return drained

    def _serve(self) -> None:
        """Take turns. `short`: the last claim found less than it wanted, so that the watch is set
        before the next one; `dry`: then nothing waited, or that one found nothing, so only a
        change makes another worth its while. What was heard of is claimed at once, and the watch
        set when its handler has it."""
        short, dry, beat_at = True, False, 0.0
        while not self._stopping.is_set():
            now = self._collect()
            dry = dry and now < beat_at
            want = None if dry else self._want()
            if want is None and not self._ledger.unsettled:
                if self._rest(beat_at - now if dry else self._beat_ms / 1000, dry):
                    short, dry = short and not dry, False
                continue
            try:
                if want is not None and short:
                    found = self._watch.look(self._look)
                    beats = HEARD_BEATS if found is not None else 1
                    beat_at = time.monotonic() + self._beat_ms * beats / 1000
                    if not waits(found):
                        dry = True
                        self._trouble.over()
                        continue
                taken = self._bus.run(self._ledger.turn(want, self._task_of))
            except EchoMQError as fault:
                self._stopping.wait(self._trouble.met(fault))
                short, dry = True, False
                continue
            self._trouble.over()
            if want is not None and taken is not None:
                dry = short and not taken
                short = taken < want.size

    def _drain(self) -> bool:
        """Give back what was not begun, and settle what is in hand while there is time."""
        deadline = time.monotonic() + self._drain_s
        self._bus.run(self._ledger.give_back())
        while (now := self._collect()) < deadline and self.in_hand:
            if not self._ledger.unsettled:
                self._rest(deadline - now, False)
                continue
            try:
                self._bus.run(self._ledger.turn(None, self._task_of))
            except EchoMQError as fault:
                self._ended.wait(min(self._trouble.met(fault), deadline - now))
            else:
                self._trouble.over()
        if self.in_hand:
            _log.error("%d jobs are left unsettled; they return by lease", self.in_hand)
        return not self.in_hand

    def _want(self) -> Want | None:
        return None if self._quiet.is_set() else self._ledger.want()

    def _task_of(self, lease: Lease) -> Attempt:
        if self._awaited is not None:
            return AsyncTask(self._awaited, self.q, lease)
        return Task(self._bus, self.q, lease)

    def _collect(self) -> float:
        """Take over what has ended, and give back what nobody begins; answers the time."""
        now = time.monotonic()
        if self._ledger.collect(now):
            self._bus.run(self._ledger.give_back())
        return now

    # ---- rest --------------------------------------------------------------------------------

    def _rest(self, timeout_s: float, dry: bool) -> bool:
        """Wait until a handler has ended or somebody nudges; where it is `dry`, also for new work.
        Whether there may be some."""
        timeout_s = self._ledger.patience(timeout_s)
        self._resting = True
        try:
            if self._hands.waiting():
                return False
            return bool(self._watch.wait(timeout_s, self.q.wake if dry else None))
        except EchoMQError as fault:
            _log.debug("looking again: %s", fault)
            return True
        finally:
            self._resting = False

    def _told(self) -> None:
        """Called by the threads of handlers."""
        if self._resting:
            self._resting = False
            self._watch.nudge()

    # ---- the beat ----------------------------------------------------------------------------

    def _beat(self) -> None:
        every_s = min(HEARTBEAT_S, self._lease_ms / 3000)
        while True:
            wait_s = every_s
            try:
                quiet = self._quiet.is_set() or self._stopping.is_set()
                self._bus.run(self._ledger.beat(quiet))
                self._trouble.over("beat")
            except EchoMQError as fault:
                wait_s = min(every_s, self._trouble.met(fault, "beat"))
            if self._ended.wait(wait_s):
                break
        try:
            self._bus.run(self._ledger.presence.leave())
        except EchoMQError:
            _log.debug("the bus was not told of the end of %r", self.worker)
