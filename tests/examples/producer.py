"""Admit jobs, now and later."""

import os
import time

from queue_core import Queue, connect

bus = connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
mail = Queue(bus, "mail")
admitted = mail.enqueue('{"to": "ada"}')
print(admitted.word, len(admitted.id))
print(mail.enqueue_in('{"to": "grace"}', delay_ms=200).word)
print(mail.enqueue_at('{"to": "edsger"}', run_at_ms=int(time.time() * 1000) + 400).word)
