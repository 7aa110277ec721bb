"""Outcomes, awaited."""

import asyncio
import os

from queue_core import OUTCOME_OF, AsyncQueue, InvalidError, UnavailableError, async_connect


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
    orders = AsyncQueue(bus, "orders-awaited")
    job_id = await orders.mint()
    for _ in range(2):
        word = (await orders.enqueue("one", job_id=job_id)).word
        print(word, OUTCOME_OF[word].word)
    held = await orders.claim()
    assert held is not None
    print(await orders.complete(held), await orders.complete(held))
    try:
        await orders.enqueue("two", job_id="nonsense")
    except InvalidError as fault:
        print(fault)
    try:
        await async_connect("redis://localhost:1")
    except UnavailableError as fault:
        print(fault.code)
    await bus.close()


asyncio.run(main())
