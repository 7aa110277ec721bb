"""Bound a whole queue, and admit a job only once a while."""

import os

from queue_core import Queue, connect

bus = connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
calls = Queue(bus, "partner-calls")
calls.bound(concurrency=5, rate=3, window_ms=60_000)  # 5 at once, 3 a minute, all workers together
first = calls.enqueue_once("sync", "sync-42", ttl_ms=60_000)
again = calls.enqueue_once("sync", "sync-42", ttl_ms=60_000)
print(first.word, again.word, again.id == first.id)
calls.enqueue_many(["a", "b", "c"])
print([held.payload.decode() for held in iter(calls.claim, None)])
print(calls.bound(), calls.claim() is not None)  # lifted
print(calls.keep_logs(3_600_000))  # a log goes an hour after its job is completed
