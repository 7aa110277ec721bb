"""Work jobs off by the batch: one write for many of them, and a verdict for each."""

import os
from collections.abc import Mapping, Sequence

from queue_core import Queue, connect
from queue_core.work import BatchConsumer, Dead, Task, Verdict

bus = connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
visits = Queue(bus, "visits")
table: list[int] = []


def insert(tasks: Sequence[Task]) -> Mapping[bytes, Verdict | None]:
    verdicts: dict[bytes, Verdict | None] = {}
    for task in tasks:
        verdicts[task.id] = None if task.payload.isdigit() else Dead("no number")
    table.extend(int(task.payload) for task in tasks if verdicts[task.id] is None)  # one write
    print(len(tasks), "at once")
    if len(table) == 6:
        worker.stop()
    return verdicts


visits.enqueue_many(["1", "2", "three", "4", "5", "6", "7"])
# Four to five go at once; what is fewer goes when half a second has passed since the last batch.
worker = BatchConsumer(bus, "visits", insert, min_size=4, max_size=5, window_ms=500)
worker.run()
print(sorted(table), visits.counts().value["dead"], "dead")
