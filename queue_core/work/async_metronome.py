"""One worker of many queues, for asyncio: as `metronome.py`, awaited."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from queue_core.errors import EchoMQError
from queue_core.numbers import whole
from queue_core.work.async_loops import AsyncLoop, AsyncServes
from queue_core.work.hands import Hands, ThreadHands
from queue_core.work.ledger import Ledger
from queue_core.work.loops import (
    BEAT_MS,
    DEFAULT_POLICY,
    DRAIN_S,
    LEASE_MS,
)
from queue_core.work.presence import worker_id
from queue_core.work.rounds import WORKERS, Handlers, Rounds, Station, named
from queue_core.work.serving import Policy
from queue_core.work.task_hands import TaskHands
from queue_core.work.trouble import name_of


class AsyncMetronome(AsyncLoop):
    """Serves several queues until `stop`, `workers` jobs at once in all; `Metronome` says what the
    options mean.

    The handlers are all coroutine functions, which get an `AsyncTask`, or all plain ones, which
    get a `Task` and run in threads. `stop` and `quiet` may be called from any thread.
    Cancelling whoever awaits `run` is the hard stop: handlers are cancelled, nothing more is
    settled, jobs return when their leases end.
    """

    def __init__(
        self,
        bus: AsyncServes,
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
        kind, told = (TaskHands, self._told_here) if awaited else (ThreadHands, self._told)
        hands: Hands = kind(lambda task: by_name[task.queue](task), workers, timeout_ms, told)
        self._rounds = Rounds(
            list(by_name), hands, workers, self.worker, most=most, lease_ms=lease_ms,
            beat_ms=beat_ms, policy=policy, weighted=weighted,
        )  # fmt: skip
        super().__init__(
            bus, hands, self._rounds.ledgers, name=name_of("metronome", list(by_name)),
            awaited=awaited, lease_ms=lease_ms, drain_s=drain_s,
        )  # fmt: skip

    async def _collect(self) -> float:
        self._rounds.collect()
        return await super()._collect()

    def _at_work(self) -> Sequence[Ledger]:
        return [ledger for ledger in self._ledgers if ledger.in_hand]

    async def _drain(self) -> bool:
        self._rounds.take_back()
        return await super()._drain()

    async def _serve(self, now: float) -> None:
        rounds = self._rounds
        wants = rounds.promise(now, self._quiet)
        going = [one for one in rounds.stations if one in wants or one.settles(now)]
        if not going:
            await self._rest(*rounds.rest(now, self._quiet))
            return
        await asyncio.gather(*[self._arm(one, wants) for one in list(wants) if one.short])
        going = [one for one in going if one in wants or one.ledger.unsettled]
        answers = await self._bus.run_all(rounds.plans(going, wants, self._task_of))
        for station, answer in zip(going, answers, strict=True):
            self._came(station, wants.get(station), answer)

    async def _arm(self, station: Station, wants: dict[Station, int]) -> None:
        """Set a queue's watch before it is asked; one that fails, or has nothing, is not asked."""
        watch = self._watches[station.place]
        try:
            found = await watch.look(station.call)
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
