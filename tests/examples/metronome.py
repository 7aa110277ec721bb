"""Serve several queues with one set of hands."""

import os

from queue_core import Queue, connect
from queue_core.work import Metronome, Task

bus = connect(os.environ.get("BUS_URL", "redis://localhost:6379"))


def post(task: Task) -> None:
    print("letter", task.payload.decode())


def scale(task: Task) -> None:
    print("thumbnail", task.payload.decode())
    if task.payload == b"b":
        worker.stop()


Queue(bus, "letters").enqueue_many(["1", "2", "3"])
Queue(bus, "thumbnails").enqueue_many(["a", "b"])
worker = Metronome(bus, {"letters": post, "thumbnails": scale}, workers=1)
worker.run()  # one hand, so that the queues' turns show
