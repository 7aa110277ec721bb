"""Verdicts, retries and a limit on time, awaited."""

import asyncio
import os

from queue_core import AsyncQueue, async_connect
from queue_core.work import (
    AsyncConsumer,
    AsyncTask,
    Dead,
    Later,
    Policy,
    Verdict,
    exponential,
    jitter,
)


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
    calls = AsyncQueue(bus, "calls-awaited")
    policy = Policy(jitter(exponential(500, 30_000)), max_attempts=5)
    print([policy.backoff.ceiling(failures) for failures in range(1, 9)])

    async def handle(task: AsyncTask) -> Verdict | None:
        match task.payload:
            case b"busy":
                return Later(60_000)
            case b"wrong number":
                return Dead("nobody there")
            case b"broken":
                raise ConnectionError("no line")
            case b"slow":
                await asyncio.sleep(30)  # is cancelled, and its place free at once
            case b"last":
                worker.stop()
        return None

    worker = AsyncConsumer(bus, "calls-awaited", handle, policy=policy, timeout_ms=100)
    await calls.enqueue_many(["busy", "wrong number", "broken", "slow", "last"])
    await worker.run()
    counts = (await calls.counts()).value
    print(counts["schedule"], "wait,", counts["dead"], "dead,", counts["completed"], "done")
    await bus.close()


asyncio.run(main())
