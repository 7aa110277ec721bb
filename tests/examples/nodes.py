"""Where ids come from: a node number that is leased, or one of your own."""

import os

from queue_core import Queue, connect, decode
from queue_core.nodes import lease_of

bus = connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
leased = Queue(bus, "nodes").enqueue("x").id
print(decode(leased).node in range(512, 1024))
own = Queue(bus, "nodes", node=7).enqueue("x").id
print(decode(own).node)
bus.run(lease_of(bus).release())  # at an orderly end; else it is free after a minute
