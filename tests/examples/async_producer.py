"""Admit jobs from an asyncio program."""

import asyncio
import os
import time

from queue_core import AsyncQueue, async_connect


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
    mail = AsyncQueue(bus, "mail")
    admitted = await mail.enqueue('{"to": "ada"}')
    print(admitted.word, len(admitted.id))
    print((await mail.enqueue_in('{"to": "grace"}', delay_ms=200)).word)
    at_ms = int(time.time() * 1000) + 400
    print((await mail.enqueue_at('{"to": "edsger"}', run_at_ms=at_ms)).word)
    await bus.close()


asyncio.run(main())
