"""Work a queue off in an event loop until SIGTERM; a second one cancels what runs."""

import asyncio
import logging
import os

from queue_core import async_connect
from queue_core.keys import queue
from queue_core.work import AsyncConsumer, AsyncPump, AsyncTask
from queue_core.work.signals import async_run_until_signalled


async def handle(task: AsyncTask) -> None:
    logging.info("mail for %s", task.payload.decode())


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
    worker = AsyncConsumer(bus, "mail", handle, concurrency=50)
    pump = AsyncPump(bus, [queue("mail")])
    drained = await async_run_until_signalled([worker, pump])
    await bus.close()
    logging.info("all settled" if drained else "some come back by lease")


logging.basicConfig(level=logging.INFO, format="%(message)s")
asyncio.run(main())
