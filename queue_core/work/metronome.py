"""One worker of many queues: it hears of work on one line for each, and has it done by one set of
hands (protocol part 6.3).

The thread that calls `run` keeps time: it settles what has ended and claims for whoever is idle,
of all queues in one pipeline. With nothing to do it rests on its watches.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from queue_core.errors import EchoMQError
from queue_core.numbers import whole
from queue_core.work.hands import Hands, ThreadHands
from queue_core.work.ledger import Ledger
from queue_core.work.loops import (
    BEAT_MS,
    DEFAULT_POLICY,
    DRAIN_S,
    LEASE_MS,
    Loop,
    Serves,
)
from queue_core.work.presence import worker_id
from queue_core.work.rounds import WORKERS, Handlers, Rounds, Station, named
from queue_core.work.serving import Policy
from queue_core.work.task_hands import LoopHands
from queue_core.work.trouble import name_of


class Metronome(Loop):
    """Serves several queues until `stop`, `workers` jobs at once in all.

    `handlers` has a handler for each queue's name: all plain functions, which run in threads, or
    all coroutine functions, which run in a loop in a thread. `most` bounds the jobs of one queue
    at once (None: `workers`), so that one with slow jobs leaves hands for the others. It holds one
    waiting connection for each queue and two that it sends on, whatever `workers` is; what
    handlers ask comes on top. No job is taken that no hand is idle for. The other options, and
    what `stop`, `quiet`, `in_hand` and `faults` mean, are those of `Consumer`. A queue that the
    bus cannot serve holds up no other.
    """

    def __init__(
        self,
        bus: Serves,
        handlers: Handlers,
        *,
        workers: int = WORKERS,
        most: int | None = None,
        lease_ms: int = LEASE_MS,
        beat_ms: int = BEAT_MS,
        policy: Policy = DEFAULT_POLICY,
        drain_s: float = DRAIN_S,
        timeout_ms: int | None = None,
        weighted: bool = False,
        label: str = "",
    ) -> None:
        by_name, awaited = named(handlers)
        self.worker = worker_id(label, by_name)
        workers = whole(workers, "workers")
        kind = LoopHands if awaited else ThreadHands
        hands: Hands = kind(lambda task: by_name[task.queue](task), workers, timeout_ms, self._told)
        self._rounds = Rounds(
            list(by_name), hands, workers, self.worker, most=most, lease_ms=lease_ms,
            beat_ms=beat_ms, policy=policy, weighted=weighted,
        )  # fmt: skip
        super().__init__(
            bus, hands, self._rounds.ledgers, name=name_of("metronome", list(by_name)),
            awaited=awaited, lease_ms=lease_ms, drain_s=drain_s,
        )  # fmt: skip

    def _collect(self) -> float:
        self._rounds.collect()
        return super()._collect()

    def _at_work(self) -> Sequence[Ledger]:
        return [ledger for ledger in self._ledgers if ledger.in_hand]

    def _drain(self) -> bool:
        self._rounds.take_back()
        return super()._drain()

    def _serve(self, now: float) -> None:
        rounds = self._rounds
        wants = rounds.promise(now, self._quiet)
        going = [one for one in rounds.stations if one in wants or one.settles(now)]
        if not going:
            self._rest(*rounds.rest(now, self._quiet))
            return
        for station in [one for one in wants if one.short]:
            self._arm(station, wants)
        going = [one for one in going if one in wants or one.ledger.unsettled]
        answers = self._bus.run_all(rounds.plans(going, wants, self._task_of))
        for station, answer in zip(going, answers, strict=True):
            self._came(station, wants.get(station), answer)

    def _arm(self, station: Station, wants: dict[Station, int]) -> None:
        """Set a queue's watch before it is asked; one that fails, or has nothing, is not asked."""
        watch = self._watches[station.place]
        try:
            found = watch.look(station.call)
        except EchoMQError as fault:
            self._came(station, None, fault)
            del wants[station]
        else:
            if not station.looked(found):
                del wants[station]
                if not station.ledger.unsettled:  # else what it owes tells whether it is served
                    self._noted(station.ledger, None)

    def _came(self, station: Station, wanted: int | None, answer: int | EchoMQError | None) -> None:
        """What a turn came to."""
        if wait_s := self._noted(station.ledger, answer):
            station.held_off(time.monotonic() + wait_s)
        elif wanted is not None and not isinstance(answer, EchoMQError):
            station.came(wanted, answer)

    def _hear(self, ledger: Ledger) -> None:
        self._rounds.hear(ledger)
