"""An asyncio worker for the length of a test, and waiting for what a server says."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from queue_core.async_bus import AsyncBus
from queue_core.keys import QueueKeys
from queue_core.work.async_consumer import AsyncConsumer
from queue_core.work.backoff import fixed
from queue_core.work.serving import Policy
from tests.builders import command

AT_ONCE = Policy(fixed(0), max_attempts=2)
PATIENCE_S = 20


@contextlib.asynccontextmanager
async def serving(
    abus: AsyncBus, q: QueueKeys, handler: Any, **options: Any
) -> AsyncIterator[AsyncConsumer]:
    """A consumer at work, stopped in order at the end."""
    worker = AsyncConsumer(abus, q.name, handler, **{"beat_ms": 50, "policy": AT_ONCE, **options})
    running = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        async with asyncio.timeout(PATIENCE_S):
            assert await running


async def until(true: Callable[[], Awaitable[object]]) -> None:
    """Wait until the server says that something holds."""
    async with asyncio.timeout(PATIENCE_S):
        while not await true():  # noqa: ASYNC110 (a server's event)
            await asyncio.sleep(0.005)


def state_of(abus: AsyncBus, q: QueueKeys, job_id: bytes, state: bytes) -> Any:
    async def is_so() -> bool:
        found: bytes | None = await abus.run(command("HGET", q.row(job_id), "state"))
        return (found or b"gone") == state

    return is_so
