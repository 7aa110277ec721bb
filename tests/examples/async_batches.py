"""Batches, awaited."""

import asyncio
import os

from queue_core import AsyncQueue, async_connect
from queue_core.verbs import claims
from queue_core.work import Done, Failed, Policy, Verdict, fixed
from queue_core.work.batches import partition, settle


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
    rows = AsyncQueue(bus, "rows-awaited")
    print(len(await rows.enqueue_many(f"row {n}" for n in range(10))))
    leases = await bus.run(claims.claim_batch(rows.keys, 100, lease_ms=30_000))
    verdicts: dict[bytes, Verdict] = {lease.id: Done() for lease in leases}
    verdicts[leases[3].id] = Failed("that row is broken")
    policy = Policy(fixed(1_000), max_attempts=3)
    answers = await bus.run(settle(rows.keys, leases, verdicts, policy))
    parts = partition(leases, verdicts, answers)
    print(len(parts.completed), "done,", len(parts.retried), "again,", len(parts.lost), "lost")
    await bus.close()


asyncio.run(main())
