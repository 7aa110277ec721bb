"""Give each customer a lane, so that none waits behind another's backlog."""

import os

from queue_core import Queue, connect
from queue_core.verbs import lanes

bus = connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
renders = Queue(bus, "renders")
ada, bob = renders.mint("CUS"), renders.mint("CUS")  # a lane is named by an id
for n in (1, 2, 3):
    renders.enqueue(f"ada {n}", group=ada)
renders.enqueue("bob 1", group=bob)
bus.run(lanes.limit(renders.keys, ada, 2))  # at most two of hers in flight
for _ in range(3):
    held = renders.lane_claim()
    print(held.payload.decode() if held else "nothing to claim")
print(bus.run(lanes.depths(renders.keys, [ada, bob])) == {ada: 1, bob: 0})
print("nothing to claim" if renders.lane_claim() is None else "over the limit")
