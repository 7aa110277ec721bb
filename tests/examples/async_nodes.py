"""Node numbers, awaited."""

import asyncio
import os

from queue_core import AsyncQueue, async_connect, decode
from queue_core.nodes import lease_of


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
    leased = (await AsyncQueue(bus, "nodes-awaited").enqueue("x")).id
    print(decode(leased).node in range(512, 1024))
    own = (await AsyncQueue(bus, "nodes-awaited", node=7).enqueue("x")).id
    print(decode(own).node)
    await bus.run(lease_of(bus).release())
    await bus.close()


asyncio.run(main())
