"""A limit on a handler's time, where handlers run in threads."""

from __future__ import annotations

import threading
from collections.abc import Callable

from queue_core.bus import Bus
from queue_core.keys import QueueKeys
from queue_core.verbs import admission
from queue_core.work.backoff import fixed
from queue_core.work.consumer import Consumer
from queue_core.work.serving import Policy, extend_all
from queue_core.work.task import Task
from tests.builders import HOUR, Builder, Run, command, row
from tests.servers import until

PATIENCE_S = 20


def test_a_thread_over_its_time_fails_but_keeps_its_place(
    bus: Bus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    stubborn, fine = mint(), mint()
    asked, release, told = threading.Event(), threading.Event(), []

    def handler(task: Task) -> None:
        if task.id == stubborn:
            task.progress("early")
            assert task.cancel.wait(PATIENCE_S)
            told.append((task.lost, task.cancel.check()))
            task.progress("late")  # it may be another attempt's by now
            asked.set()
            release.wait(PATIENCE_S)

    def state(job_id: bytes) -> bytes | None:
        found: bytes | None = bus.run(command("HGET", q.row(job_id), "state"))
        return found

    worker = Consumer(
        bus, q.name, handler, beat_ms=50, timeout_ms=50, policy=Policy(fixed(0), max_attempts=1)
    )
    bus.run(admission.enqueue(q, stubborn, b"x"))
    running = threading.Thread(target=worker.run)
    running.start()
    try:
        until(lambda: state(stubborn) == b"dead", "it fails while its handler runs")
        assert bus.run(row(q, stubborn))[b"last_error"] == b"timed out after 50 ms"
        assert asked.wait(PATIENCE_S)
        assert bus.run(row(q, stubborn))[b"progress"] == b"early"
        bus.run(admission.enqueue(q, fine, b"x"))
        assert state(fine) == b"pending"  # the one place is still taken
        release.set()
        until(lambda: state(fine) is None, "the place is free once the thread returns")
        assert told == [(True, "timeout")]
        assert bus.run(row(q, stubborn))[b"attempts"] == b"1"
    finally:
        release.set()
        worker.stop()
        running.join(PATIENCE_S)


def test_of_two_claims_of_one_job_the_later_is_extended(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    held = make.active()
    other = make.active()
    early, late = (held.id, b"0"), (held.id, held.token)
    gone = (other.id, b"9")
    assert run(extend_all(q, [late, early, gone], HOUR)) == {early, gone}
    assert run(extend_all(q, [early, late], HOUR)) == {early}
    assert run(extend_all(q, [], HOUR)) == set()
