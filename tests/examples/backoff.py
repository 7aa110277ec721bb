"""What a handler may answer, how failures come back, and a limit on its time."""

import os

from queue_core import Queue, connect
from queue_core.work import Consumer, Dead, Later, Policy, Task, Verdict, exponential, jitter

bus = connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
calls = Queue(bus, "calls")
policy = Policy(jitter(exponential(500, 30_000)), max_attempts=5)
print([policy.backoff.ceiling(failures) for failures in range(1, 9)])


def handle(task: Task) -> Verdict | None:
    match task.payload:
        case b"busy":
            return Later(60_000)  # no attempt is used up
        case b"wrong number":
            return Dead("nobody there")
        case b"broken":
            raise ConnectionError("no line")  # again by the policy
        case b"slow" if not task.cancel.wait(30):  # a thread ends where it looks
            return None
        case b"last":
            worker.stop()
    return None  # done


worker = Consumer(bus, "calls", handle, policy=policy, timeout_ms=100)
calls.enqueue_many(["busy", "wrong number", "broken", "slow", "last"])
worker.run()
counts = calls.counts().value
print(counts["schedule"], "wait,", counts["dead"], "dead,", counts["completed"], "done")
