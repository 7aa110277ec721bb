"""Flows, awaited."""

import asyncio
import os

from queue_core import AsyncQueue, async_connect
from queue_core.verbs import flows
from queue_core.verbs.flows import FlowJob
from queue_core.work import AsyncConsumer, AsyncTask, Done


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
    films = AsyncQueue(bus, "films-awaited")
    scenes = (FlowJob(await films.mint(), b"scene 1"), FlowJob(await films.mint(), b"scene 2"))
    film = FlowJob(await films.mint(), b"cut", children=scenes)
    word, refused = await bus.run(flows.add(films.keys, film))
    print(word, refused)

    async def handle(task: AsyncTask) -> Done:
        if task.id == film.id:
            parts = await bus.run(flows.children_values(films.keys, film.id))
            print(task.payload.decode(), sorted(parts.values()))
            worker.stop()
        return Done(task.payload.upper())

    worker = AsyncConsumer(bus, "films-awaited", handle)
    await worker.run()
    await bus.close()


asyncio.run(main())
