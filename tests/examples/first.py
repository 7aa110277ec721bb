"""A whole round in ten lines."""

import os

from queue_core import Queue, connect

mail = Queue(connect(os.environ.get("BUS_URL", "redis://localhost:6379")), "first")
mail.enqueue('{"to": "ada"}')
if held := mail.claim():
    print(held.payload.decode(), mail.complete(held))
