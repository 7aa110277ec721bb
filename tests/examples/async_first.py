"""The round, awaited."""

import asyncio
import os

from queue_core import AsyncQueue, async_connect


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
    mail = AsyncQueue(bus, "first-awaited")
    await mail.enqueue('{"to": "ada"}')
    if held := await mail.claim():
        print(held.payload.decode(), await mail.complete(held))
    await bus.close()


asyncio.run(main())
