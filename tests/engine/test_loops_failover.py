"""Workers of batches and of many queues while another server takes over, in a Cluster, where one
metronome's queues live on several nodes."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from queue_core.bus import Bus, connect
from queue_core.errors import EchoMQError
from queue_core.keys import QueueKeys, queue
from queue_core.routes import slot_of
from queue_core.verbs import admission
from queue_core.work.task import Task
from tests.builders import a_lane
from tests.engine.manned import PATIENCE_S, manned, until
from tests.servers import Cluster

BEAT_MS = 200
_numbers = itertools.count()


def spread(many: int) -> list[QueueKeys]:
    """Fresh queues whose slots lie far apart, so that a Cluster has them on several nodes."""
    found: list[QueueKeys] = []
    while len(found) < many:
        q = queue(f"away{os.getpid()}.{next(_numbers)}")
        if slot_of(q.base) * many // 16384 == len(found):
            found.append(q)
    return found


def persist(bus: Bus, q: QueueKeys, job_id: bytes, lane: bytes | None) -> None:
    """Admit a job, through trouble too."""

    def sent() -> bool:
        plan = admission.enqueue(q, job_id, b"")
        if lane is not None:
            plan = admission.lane_enqueue(q, lane, job_id, b"")
        with contextlib.suppress(EchoMQError):
            bus.run(plan)
            return True
        return False

    until(sent)


@pytest.mark.parametrize("kind", ["threads", "tasks"])
def test_row_43_another_server_takes_over_and_every_job_is_served(
    kind: str, cluster: Cluster, mint: Callable[[], bytes]
) -> None:
    until(cluster.whole)
    bus, qs = connect(cluster.url), spread(4)
    served: Counter[bytes] = Counter()
    begun, go = threading.Semaphore(0), threading.Event()

    def handler(task: Task) -> None:
        begun.release()
        assert go.wait(PATIENCE_S)
        served[task.id] += 1

    def batches(tasks: Sequence[Task]) -> dict[bytes, None]:
        for task in tasks:
            handler(task)
        return dict.fromkeys(task.id for task in tasks)

    asked: set[bytes] = set()

    def admit(lane: bytes | None = None) -> None:
        for q in qs:
            job_id = mint()
            asked.add(job_id)
            persist(bus, q, job_id, lane)

    options = {"beat_ms": BEAT_MS}
    by_queue = {q.name: handler for q in qs[:3]}
    with (
        manned("metronome", kind, cluster.url, by_queue, **options) as made,
        manned("batches", kind, cluster.url, qs[3].name, batches, lanes=True, **options) as others,
    ):
        admit()
        for _ in qs:
            assert begun.acquire(timeout=PATIENCE_S)
        before = set(cluster.ports())
        cluster.fail_over()
        assert set(cluster.ports()) != before
        go.set()
        admit()
        admit(a_lane())
        until(lambda: asked == set(served))
        until(lambda: not made.loop.in_hand and not others.loop.in_hand)
    assert made.drained
    assert others.drained
    # An orderly change of servers loses no answer of a claim that was given.
    assert set(served.values()) == {1}
    bus.close()
