"""A server of one's own, for a test or a small machine."""

import tempfile

from queue_core import Queue, connect
from queue_core.embedded import Embedded

with tempfile.TemporaryDirectory() as folder:
    server = Embedded(folder).start()
    notes = Queue(connect(server.url), "notes")
    print(notes.enqueue("x").word)
    server.stop()
