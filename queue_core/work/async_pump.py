"""What time drives, for some queues, in an asyncio program: as `pump.py`, awaited."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from queue_core.errors import EchoMQError
from queue_core.keys import QueueKeys
from queue_core.nodes import lease_of
from queue_core.plans import Plan
from queue_core.work.async_consumer import within
from queue_core.work.pump import MAX_STALLED, TICK_MS, sweep
from queue_core.work.task import AsyncRuns
from queue_core.work.trouble import Trouble

_log = logging.getLogger(__name__)


class AsyncPump:
    """Sweeps its queues until `stop`; `Pump` says what the options mean."""

    def __init__(
        self,
        bus: AsyncRuns,
        queues: Sequence[QueueKeys],
        mint: Callable[[], Plan[bytes]] | None = None,
        max_stalled: int = MAX_STALLED,
    ) -> None:
        self._bus = bus
        self._queues = list(queues)
        self._mint = lease_of(bus).mint if mint is None else mint
        self._max_stalled = max_stalled
        self._stopping = asyncio.Event()
        self._trouble = {q.name: Trouble(f"pump of {q.name!r}", _log) for q in queues}

    def stop(self) -> None:
        """End after the sweep under way. Belongs to the loop's thread."""
        self._stopping.set()

    async def run(self) -> None:
        """Sweep until `stop`; trouble with the server is waited out."""
        wait_ms = 0
        while not await within(self._stopping, wait_ms / 1000):
            waits = [await self._sweep(q) for q in self._queues]
            wait_ms = min(waits, default=TICK_MS)

    async def _sweep(self, q: QueueKeys) -> int:
        trouble = self._trouble[q.name]
        try:
            wait_ms = await self._bus.run(sweep(q, self._mint, self._max_stalled))
        except EchoMQError as fault:
            return int(trouble.met(fault) * 1000)
        trouble.over()
        return wait_ms
