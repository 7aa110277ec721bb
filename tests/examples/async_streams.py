"""Streams, awaited."""

import asyncio
import os

from queue_core import AsyncQueue, async_connect
from queue_core.verbs import streams
from queue_core.work.async_streams import AsyncStreamConsumer
from queue_core.work.records import Keep, Record


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
    audit = AsyncQueue(bus, "audit-awaited")
    for user in ("ada", "bob", "eve"):
        record_id = await audit.mint("EVT")
        await bus.run(streams.append(audit.keys, b"log-ins", record_id, [("user", user)]))

    async def handle(record: Record) -> None:
        user = dict(record.fields)[b"user"].decode()
        print(user, record.deliveries)
        if user == "bob" and record.deliveries < 2:
            raise ConnectionError("try again")
        if user == "bob":
            consumer.stop()

    consumer = AsyncStreamConsumer(
        bus, "audit-awaited", "log-ins", "mailer", handle,
        from_start=True, idle_ms=100, beat_ms=50,
    )  # fmt: skip
    await consumer.run()
    print(await bus.run(Keep(audit.keys, "log-ins", last=1, exact=True).trim()))
    await bus.close()


asyncio.run(main())
