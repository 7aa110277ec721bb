"""A worker process of the browser tests: every job is done at once, unless its payload says how
many ms it takes."""

from __future__ import annotations

import json
import os
import sys
import time

from queue_core.bus import connect
from queue_core.work.consumer import Consumer
from queue_core.work.signals import run_until_signalled
from queue_core.work.task import Task


def handle(task: Task) -> None:
    """Take the time that the payload asks for."""
    assert task.payload is not None
    said = json.loads(task.payload) if task.payload.startswith(b"{") else {}
    time.sleep(said.get("takes_ms", 0) / 1000)


if __name__ == "__main__":
    bus = connect(os.environ["ECHOMQ_BUS_URL"])
    worker = Consumer(bus, sys.argv[1], handle, concurrency=2, lease_ms=3_000, beat_ms=200)
    run_until_signalled([worker], print)
