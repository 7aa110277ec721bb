"""Counts what an observer sends: round trips to the bus and the calls in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from queue_core.async_bus import AsyncBus
from queue_core.plans import Call


@dataclass
class Trips:
    """One list of calls per round trip, and how many were under way at once at most."""

    calls: list[list[str]] = field(default_factory=list)
    at_once: int = 0
    _open: int = 0

    def __len__(self) -> int:
        return len(self.calls)


@contextmanager
def counted() -> Iterator[Trips]:
    """Every round trip of every awaited bus of this process, while it lasts."""
    trips = Trips()
    real = AsyncBus._exchange

    async def counting(bus: AsyncBus, calls: Sequence[Call]) -> Any:
        trips.calls.append([call.name for call in calls])
        trips._open += 1
        trips.at_once = max(trips.at_once, trips._open)
        try:
            return await real(bus, calls)
        finally:
            trips._open -= 1

    with patch.object(AsyncBus, "_exchange", counting):
        yield trips
