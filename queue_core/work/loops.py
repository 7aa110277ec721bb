"""What loops in threads share: how they start, rest, beat, drain and end.

A loop serves some queues: a ledger and a watch for each. The thread that calls `run` is the only
one that settles and claims. One thread beats: it extends the leases in hand and says on the bus
that the worker lives. Trouble with the server ends neither.
"""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Protocol

from queue_core.errors import EchoMQError, UnavailableError
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.plans import Plan
from queue_core.watches import ANY, Watch, Watches, wait_each
from queue_core.work.backoff import exponential, jitter
from queue_core.work.flags import Flag
from queue_core.work.hands import Hands
from queue_core.work.ledger import Ledger
from queue_core.work.serving import Policy
from queue_core.work.task import AsyncTask, Attempt, Runs, Task
from queue_core.work.task_hands import Awaited
from queue_core.work.trouble import Trouble
from queue_core.work.worker import HEARTBEAT_S, Worker

LEASE_MS = 30_000
BEAT_MS = 1_000
DRAIN_S = 15.0

DEFAULT_POLICY = Policy(jitter(exponential(1_000, 60_000)), max_attempts=3)

_log = logging.getLogger(__name__)


class Serves(Runs, Watches, Protocol):
    """A blocking bus that gives watches and runs plans together."""

    def run_all(self, plans: Sequence[Plan[Any]]) -> list[Any]:
        """Results in order, faults as values."""


class Loop(Worker, ABC):
    """One worker of some queues. A subclass says how it serves them."""

    def __init__(
        self,
        bus: Serves,
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
        self._watches: list[Watch] = [
            bus.watch(ledger.q.pending, nudged=not place) for place, ledger in enumerate(ledgers)
        ]
        self._for_awaited = Awaited(bus) if awaited else None
        self._stopping = Flag()
        self._ended = threading.Event()
        self._resting = False

    # ---- what others may ask -----------------------------------------------------------------

    def stop(self) -> None:
        """Claim nothing more; `run` returns when what is in hand is settled."""
        self._stopping.set()
        self._watches[0].nudge()

    def quiet(self, on: bool = True) -> None:
        """Claim nothing more, but stay; or go on."""
        self._quiet = on
        self._watches[0].nudge()

    # ---- the loop ----------------------------------------------------------------------------

    def run(self) -> bool:
        """Serve until `stop`. Answers whether every job in hand was settled in time; what was
        not comes back when its lease ends."""
        self._once.begin()
        beater = threading.Thread(target=self._beat, name="beat", daemon=True)
        try:
            self._hands.start()
            beater.start()
            while not self._stopping.is_set():
                self._stand()
                self._serve(self._collect())
            drained = self._drain()
        finally:
            self._ended.set()
            self._hands.end()
            for ledger, watch in zip(self._ledgers, self._watches, strict=True):
                ledger.note()
                watch.close()
            if beater.is_alive():  # it takes the worker's words back, also where this one falls
                beater.join(2 * HEARTBEAT_S)
        return drained

    @abstractmethod
    def _serve(self, now: float) -> None:
        """One step: settle, claim, or rest."""

    @abstractmethod
    def _hear(self, ledger: Ledger) -> None:
        """Something of a queue has changed, or may have."""

    def _collect(self) -> float:
        """Take over what has ended, and give back what nobody begins; answers the time."""
        now = time.monotonic()
        for ledger in self._at_work():
            if ledger.collect(now):
                self._bus.run(ledger.give_back())
        return now

    def _drain(self) -> bool:
        """Give back what was not begun, and settle what is in hand while there is time."""
        deadline = time.monotonic() + self._drain_s
        self._bus.run_all([ledger.give_back() for ledger in self._ledgers])
        now = self._collect()
        while self.in_hand:
            owing = [ledger for ledger in self._ledgers if ledger.unsettled]
            try:
                wait_s = self._settle(owing) if owing else 0.0
            except UnavailableError:
                break  # the bus was closed: nothing is settled any more
            if now >= deadline:
                break  # what had ended by then is settled, too
            if wait_s:
                self._ended.wait(min(wait_s, deadline - now))
            elif not owing:
                self._rest(deadline - now)
            now = self._collect()
        if self.in_hand:
            _log.error("%d jobs are left unsettled; they return by lease", self.in_hand)
        return not self.in_hand

    def _settle(self, owing: Sequence[Ledger]) -> float:
        """Settle what these owe and claim nothing; answers how many seconds to wait after."""
        answers = self._bus.run_all([one.turn(None, self._task_of(one.q)) for one in owing])
        return max(self._noted(one, answer) for one, answer in zip(owing, answers, strict=True))

    def _task_of(self, q: QueueKeys) -> Callable[[Lease], Attempt]:
        """What makes tasks of leases of a queue."""
        if self._for_awaited is not None:
            return partial(AsyncTask, self._for_awaited, q)
        return partial(Task, self._bus, q)

    # ---- rest --------------------------------------------------------------------------------

    def _rest(self, timeout_s: float, dry: Collection[Ledger] = ()) -> None:
        """Wait until a handler has ended, a watch hears of something or somebody nudges; for those
        that are dry, also for a wake where the server does not tell."""
        timeout_s = min(ledger.rest(timeout_s) for ledger in self._ledgers)
        waits = [
            (watch, ledger.q.wake if ledger in dry else None)
            for watch, ledger in zip(self._watches, self._ledgers, strict=True)
        ]
        self._resting = True
        try:
            if self._hands.waiting():
                return
            heard = wait_each(waits, timeout_s)
        except EchoMQError as fault:
            _log.debug("looking again: %s", fault)
            heard = [[ANY] for _ in self._ledgers]
        finally:
            self._resting = False
        for ledger, keys in zip(self._ledgers, heard, strict=True):
            if keys:
                self._hear(ledger)

    def _told(self) -> None:
        """Called where handlers have ended, by their threads."""
        if self._resting:
            self._resting = False
            self._watches[0].nudge()

    # ---- the beat ----------------------------------------------------------------------------

    def _beat(self) -> None:
        wait_s = 0.0
        while not self._ended.wait(wait_s):
            answers = self._bus.run_all(self._beats(self._stopping.is_set()))
            try:
                wait_s = self._beaten(answers)
            except UnavailableError as closed:
                self._fell = closed
                self._watches[0].nudge()
                return
        self._bus.run_all(self._farewells())
