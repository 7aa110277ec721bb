"""Refusals are values, faults are exceptions."""

import os

from queue_core import OUTCOME_OF, InvalidError, Queue, UnavailableError, connect

bus = connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
orders = Queue(bus, "orders")
job_id = orders.mint()  # with an id of your own, sending again is safe
for _ in range(2):
    word = orders.enqueue("one", job_id=job_id).word
    print(word, OUTCOME_OF[word].word)
held = orders.claim()
assert held is not None
print(orders.complete(held), orders.complete(held))
try:
    orders.enqueue("two", job_id="nonsense")
except InvalidError as fault:
    print(fault)
try:
    connect("redis://localhost:1")
except UnavailableError as fault:
    print(fault.code)
