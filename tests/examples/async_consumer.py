"""Work a queue off in an event loop until SIGTERM; cancelling `run` would be the hard stop."""

import asyncio
import logging
import os
import signal

from queue_core import async_connect
from queue_core.keys import queue
from queue_core.work import AsyncConsumer, AsyncPump, AsyncTask


async def handle(task: AsyncTask) -> None:
    logging.info("mail for %s", task.payload.decode())


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
    worker = AsyncConsumer(bus, "mail", handle, concurrency=50)
    pump = AsyncPump(bus, [queue("mail")])
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
    pumping = asyncio.create_task(pump.run())
    drained = await worker.run()
    pump.stop()
    await pumping
    await bus.close()
    logging.info("all settled" if drained else "some come back by lease")


logging.basicConfig(level=logging.INFO, format="%(message)s")
asyncio.run(main())
