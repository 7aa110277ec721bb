"""After a step that took long, a worker gives nothing back that nobody had time to begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from queue_core.bus import Bus
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys
from queue_core.plans import Batch, Call, Plan
from queue_core.verbs import admission
from queue_core.work import ledger
from tests.engine.manned import KINDS, Listed, done, manned, until

JOBS = 6
STALL_MS = 400


def stalling(q: QueueKeys, ids: list[bytes]) -> Plan[Any]:
    """Admit jobs, and let no claim be answered for a while: all before a worker hears of them."""
    admitted = [next(admission.enqueue(q, job_id, b"x")) for job_id in ids]
    return (yield Batch((*admitted, Call("CLIENT", (), ("PAUSE", STALL_MS, "WRITE")))))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("which", ["consumer", "batches", "metronome"])
def test_a_claim_that_is_answered_late_is_handled_once(
    server: Embedded, bus: Bus, q: QueueKeys, mint: Callable[[], bytes], which: str, kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(ledger, "WAITED_S", STALL_MS / 2_000)
    attempts: list[int] = []

    def handle(task: Any) -> None:
        attempts.append(task.attempts)

    def handle_all(tasks: Any) -> dict[bytes, None]:
        return {task.id: handle(task) for task in tasks}

    handler = handle_all if which == "batches" else handle
    given = ({q.name: handler},) if which == "metronome" else (q.name, handler)
    options: dict[str, Any] = {"window_ms": 10} if which == "batches" else {}
    with Listed(server, q) as listed, manned(which, kind, server.url, *given, **options) as worker:
        until(lambda: worker.loop._watches[0]._link is not None)
        bus.run(stalling(q, [mint() for _ in range(JOBS)]))
        until(done(bus, q, JOBS))
        claims = listed.count("claim")
    assert attempts == [1] * JOBS
    assert claims <= 2 * JOBS
