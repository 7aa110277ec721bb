"""Bounds and dedup ids, awaited."""

import asyncio
import os

from queue_core import AsyncQueue, async_connect


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
    calls = AsyncQueue(bus, "partner-calls-awaited")
    await calls.bound(concurrency=5, rate=3, window_ms=60_000)
    first = await calls.enqueue_once("sync", "sync-42", ttl_ms=60_000)
    again = await calls.enqueue_once("sync", "sync-42", ttl_ms=60_000)
    print(first.word, again.word, again.id == first.id)
    await calls.enqueue_many(["a", "b", "c"])
    taken = []
    while held := await calls.claim():
        taken.append(held.payload.decode())
    print(taken)
    print(await calls.bound(), await calls.claim() is not None)
    print(await calls.keep_logs(3_600_000))
    await bus.close()


asyncio.run(main())
