"""Repeats, awaited."""

import asyncio
import os

from queue_core import AsyncQueue, async_connect
from queue_core.verbs import repeats
from queue_core.work import AsyncConsumer, AsyncPump, AsyncTask


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
    reports = AsyncQueue(bus, "reports-awaited")
    print(await bus.run(repeats.register(reports.keys, "hourly", 3_600_000, b"make it")))
    print(await bus.run(repeats.register(reports.keys, "hourly", 3_600_000, b"make it")))

    async def handle(task: AsyncTask) -> None:
        print(task.payload.decode())
        worker.stop()
        pump.stop()

    worker = AsyncConsumer(bus, "reports-awaited", handle)
    pump = AsyncPump(bus, [reports.keys])
    await asyncio.gather(worker.run(), pump.run())
    print(await bus.run(repeats.cancel(reports.keys, "hourly")))
    await bus.close()


asyncio.run(main())
