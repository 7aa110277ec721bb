"""Hold a job until others are done, and hand it their results."""

import os

from queue_core import Queue, connect
from queue_core.verbs import flows
from queue_core.verbs.flows import FlowJob
from queue_core.work import Consumer, Done, Task

bus = connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
films = Queue(bus, "films")
scenes = tuple(FlowJob(films.mint(), payload) for payload in (b"scene 1", b"scene 2"))
film = FlowJob(films.mint(), b"cut", children=scenes)
word, refused = bus.run(flows.add(films.keys, film))
print(word, refused)


def handle(task: Task) -> Done:
    if task.id == film.id:
        parts = bus.run(flows.children_values(films.keys, film.id))
        print(task.payload.decode(), sorted(parts.values()))
        worker.stop()
    return Done(task.payload.upper())


worker = Consumer(bus, "films", handle)
worker.run()
