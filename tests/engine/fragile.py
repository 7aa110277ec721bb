"""A worker that one payload kills, as a process: `python -m tests.engine.fragile URL QUEUE`."""

from __future__ import annotations

import os
import signal
import sys

from queue_core.bus import connect
from queue_core.work.consumer import Consumer
from queue_core.work.signals import run_until_signalled
from queue_core.work.task import Task

POISON = b"poison"
LEASE_MS = 300


def handle(task: Task) -> None:
    """Ends its process as the system does where memory runs out."""
    if task.payload == POISON:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    url, name = sys.argv[1:]
    run_until_signalled([Consumer(connect(url), name, handle, lease_ms=LEASE_MS)])
