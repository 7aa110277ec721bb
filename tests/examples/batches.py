"""Admit, claim and settle many at a time, each with a verdict of its own."""

import os

from queue_core import Queue, connect
from queue_core.verbs import claims
from queue_core.work import Done, Failed, Policy, Verdict, fixed
from queue_core.work.batches import partition, settle

bus = connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
rows = Queue(bus, "rows")
print(len(rows.enqueue_many(f"row {n}" for n in range(10))))
leases = bus.run(claims.claim_batch(rows.keys, 100, lease_ms=30_000))
verdicts: dict[bytes, Verdict] = {lease.id: Done() for lease in leases}
verdicts[leases[3].id] = Failed("that row is broken")
answers = bus.run(settle(rows.keys, leases, verdicts, Policy(fixed(1_000), max_attempts=3)))
parts = partition(leases, verdicts, answers)
print(len(parts.completed), "done,", len(parts.retried), "again,", len(parts.lost), "lost")
