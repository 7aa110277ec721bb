"""Admit the same job again and again."""

import os
import threading

from queue_core import Queue, connect
from queue_core.verbs import repeats
from queue_core.work import Consumer, Pump, Task

bus = connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
reports = Queue(bus, "reports")
print(bus.run(repeats.register(reports.keys, "hourly", 3_600_000, b"make it")))
print(bus.run(repeats.register(reports.keys, "hourly", 3_600_000, b"make it")))


def handle(task: Task) -> None:
    print(task.payload.decode())
    worker.stop()


worker = Consumer(bus, "reports", handle)
pump = Pump(bus, [reports.keys])
pumping = threading.Thread(target=pump.run)
pumping.start()
worker.run()  # the first run is due at once, the next in an hour
pump.stop()
pumping.join()
print(bus.run(repeats.cancel(reports.keys, "hourly")))
