"""Lanes, awaited."""

import asyncio
import os

from queue_core import AsyncQueue, async_connect
from queue_core.verbs import lanes


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
    renders = AsyncQueue(bus, "renders-awaited")
    ada, bob = await renders.mint("CUS"), await renders.mint("CUS")
    for n in (1, 2, 3):
        await renders.enqueue(f"ada {n}", group=ada)
    await renders.enqueue("bob 1", group=bob)
    await bus.run(lanes.limit(renders.keys, ada, 2))
    for _ in range(3):
        held = await renders.lane_claim()
        print(held.payload.decode() if held else "nothing to claim")
    print(await bus.run(lanes.depths(renders.keys, [ada, bob])) == {ada: 1, bob: 0})
    print("nothing to claim" if await renders.lane_claim() is None else "over the limit")
    await bus.close()


asyncio.run(main())
