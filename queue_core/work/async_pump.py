"""What time drives, for some queues, in an asyncio program: as `pump.py`, awaited."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence

from queue_core import numbers
from queue_core.async_watches import AsyncWatch
from queue_core.errors import EchoMQError
from queue_core.keys import QueueKeys
from queue_core.nodes import lease_of
from queue_core.plans import single
from queue_core.quoting import WHOLE, quoted
from queue_core.work.async_loops import from_anywhere, within
from queue_core.work.flags import Once
from queue_core.work.pump import (
    LEASES_MS,
    MAX_STALLED,
    AsyncDrives,
    Due,
    Mint,
    Turn,
    do_due,
    due_of,
    kept,
    lines_of,
    return_stalled,
)
from queue_core.work.trouble import Trouble, Troubled, name_of

_log = logging.getLogger(__name__)


class AsyncPump(Troubled):
    """Sweeps its queues until `stop`; `Pump` says what the options mean."""

    def __init__(
        self,
        bus: AsyncDrives,
        queues: Sequence[QueueKeys],
        mint: Mint | None = None,
        max_stalled: int = MAX_STALLED,
    ) -> None:
        queues = kept(queues)
        self._bus = bus
        self._once = Once()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._mint: Mint = lease_of(bus).mint if mint is None else mint
        self._max_stalled = numbers.whole(max_stalled, "deaths of workers")
        self._stopping = False
        self._changed = asyncio.Event()
        self._trouble = Trouble(name_of("pump", [q.name for q in queues]), _log)
        names = lines_of(queues, bus)
        lines = {
            name: bus.watch(q.pending, self._changed) for name, q in zip(names, queues, strict=True)
        }
        self._watches = list(lines.values())
        self._turns = [(Turn(q), lines[name]) for name, q in zip(names, queues, strict=True)]

    def stop(self) -> None:
        """End after the sweep under way."""
        self._stopping = True
        from_anywhere(self._loop, self._changed.set)

    async def run(self) -> None:
        """Sweep until `stop`; trouble with the server is waited out."""
        self._once.begin()
        self._loop = asyncio.get_running_loop()
        try:
            while not self._stopping and self._turns:
                for turn, watch in self._turns:
                    await self._take(turn, watch)
                await self._rest()
        finally:
            for watch in self._watches:
                watch.close()

    async def _take(self, turn: Turn, watch: AsyncWatch) -> None:
        """Do what is to be done in one queue now, if anything."""
        now, part = time.monotonic(), quoted(turn.q.name, WHOLE)
        if now < turn.at:
            return
        try:
            if now >= turn.leases_at:
                turn.leases_at = now + LEASES_MS / 1000
                await self._bus.run(return_stalled(turn.q, self._max_stalled))
            if turn.is_due(now):
                await self._look(turn, watch)
        except EchoMQError as fault:
            turn.wait(self._trouble.met(fault, part))
        else:
            self._trouble.over(part)

    async def _look(self, turn: Turn, watch: AsyncWatch) -> None:
        known = turn.coming
        if known is None:
            known, told = await self._next_due(turn, watch)
            if known.wait_ms:
                turn.looked(known, told)
                return
        await self._bus.run(do_due(turn.q, self._mint, known))
        turn.looked(*(await self._next_due(turn, watch)))

    async def _next_due(self, turn: Turn, watch: AsyncWatch) -> tuple[Due, bool]:
        """What is next due, and whether a change of that will be told."""
        reply = await watch.look(turn.call)
        told = reply is not None
        return due_of(reply if told else await self._bus.run(single(turn.call))), told

    async def _rest(self) -> None:
        """Sleep until the first of the queues has something to do, or hears of it."""
        soonest = min(turn.at for turn, _ in self._turns)
        await within(self._changed, max(0.0, soonest - time.monotonic()))
        if not self._stopping:
            self._changed.clear()
        changed = [key for watch in self._watches for key in watch.taken()]
        for turn, _ in self._turns if changed else ():
            turn.hear(changed)
