"""Work a queue off until SIGTERM: what is in hand is finished first; a second ends it at once."""

import logging
import os

from queue_core import connect
from queue_core.keys import queue
from queue_core.work import Consumer, Pump, Task
from queue_core.work.signals import run_until_signalled


def handle(task: Task) -> None:
    logging.info("mail for %s", task.payload.decode())


logging.basicConfig(level=logging.INFO, format="%(message)s")
bus = connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
worker = Consumer(bus, "mail", handle, concurrency=4)
pump = Pump(bus, [queue("mail")])  # what time drives; one pump a queue is enough
drained = run_until_signalled([worker, pump])
logging.info("all settled" if drained else "some come back by lease")
