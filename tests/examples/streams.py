"""Append records, and let a group of consumers deal with each once."""

import os

from queue_core import Queue, connect
from queue_core.verbs import streams
from queue_core.work.records import Keep, Record
from queue_core.work.streams import StreamConsumer

bus = connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
audit = Queue(bus, "audit")
for user in ("ada", "bob", "eve"):
    bus.run(streams.append(audit.keys, b"log-ins", audit.mint("EVT"), [("user", user)]))


def handle(record: Record) -> None:
    user = dict(record.fields)[b"user"].decode()
    print(user, record.deliveries)
    if user == "bob" and record.deliveries < 2:
        raise ConnectionError("try again")  # comes again once it lay idle
    if user == "bob":
        consumer.stop()


consumer = StreamConsumer(
    bus, "audit", "log-ins", "mailer", handle, from_start=True, idle_ms=100, beat_ms=50
)
consumer.run()
print(bus.run(Keep(audit.keys, "log-ins", last=1, exact=True).trim()))  # `Retention` loops over it
