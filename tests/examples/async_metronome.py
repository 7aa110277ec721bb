"""A metronome, awaited."""

import asyncio
import os

from queue_core import AsyncQueue, async_connect
from queue_core.work import AsyncMetronome, AsyncTask


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))

    async def post(task: AsyncTask) -> None:
        print("letter", task.payload.decode())

    async def scale(task: AsyncTask) -> None:
        print("thumbnail", task.payload.decode())
        if task.payload == b"b":
            worker.stop()

    await AsyncQueue(bus, "letters-awaited").enqueue_many(["1", "2", "3"])
    await AsyncQueue(bus, "thumbnails-awaited").enqueue_many(["a", "b"])
    handlers = {"letters-awaited": post, "thumbnails-awaited": scale}
    worker = AsyncMetronome(bus, handlers, workers=1)
    await worker.run()
    await bus.close()


asyncio.run(main())
