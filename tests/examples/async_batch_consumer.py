"""Batches of a worker, awaited."""

import asyncio
import os
from collections.abc import Mapping, Sequence

from queue_core import AsyncQueue, async_connect
from queue_core.work import AsyncBatchConsumer, AsyncTask, Dead, Verdict


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
    visits = AsyncQueue(bus, "visits-awaited")
    table: list[int] = []

    async def insert(tasks: Sequence[AsyncTask]) -> Mapping[bytes, Verdict | None]:
        verdicts: dict[bytes, Verdict | None] = {}
        for task in tasks:
            verdicts[task.id] = None if task.payload.isdigit() else Dead("no number")
        table.extend(int(task.payload) for task in tasks if verdicts[task.id] is None)
        print(len(tasks), "at once")
        if len(table) == 6:
            worker.stop()
        return verdicts

    await visits.enqueue_many(["1", "2", "three", "4", "5", "6", "7"])
    worker = AsyncBatchConsumer(
        bus, "visits-awaited", insert, min_size=4, max_size=5, window_ms=500
    )
    await worker.run()
    print(sorted(table), (await visits.counts()).value["dead"], "dead")
    await bus.close()


asyncio.run(main())
