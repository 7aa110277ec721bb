"""A job that kills its workers ends, and takes no other job along."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from queue_core.bus import Bus
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys
from queue_core.verbs import admission
from queue_core.work import pump
from tests.builders import command, row
from tests.engine.crew import minted
from tests.engine.fragile import POISON

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 30
MOST = 2


def test_row_14_a_job_that_kills_its_workers_is_dead_and_the_others_are_done(
    server: Embedded, bus: Bus, q: QueueKeys, mint: Callable[[], bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(pump, "LEASES_MS", 20)
    payloads = [b"fine"] * 20 + [POISON] + [b"fine"] * 20
    ids = [mint() for _ in payloads]
    bus.run(admission.enqueue_many(q, list(zip(ids, payloads, strict=True))))
    pumps = pump.Pump(bus, [q], minted, max_stalled=MOST)
    pumping = threading.Thread(target=pumps.run, daemon=True)
    pumping.start()
    words = [sys.executable, "-m", "tests.engine.fragile", server.url, q.name.decode()]
    deaths = 0
    try:
        while deaths <= MOST:
            with subprocess.Popen(words, cwd=ROOT) as worker:
                try:
                    while worker.poll() is None and not _all_ended(bus, q, len(ids)):
                        threading.Event().wait(0.01)
                    if worker.returncode is None:
                        worker.terminate()
                        assert worker.wait(PATIENCE_S) == 0
                        break
                finally:
                    worker.kill()
            deaths += 1
    finally:
        pumps.stop()
        pumping.join(PATIENCE_S)
    assert deaths == MOST
    fields = bus.run(row(q, ids[20]))
    assert (fields[b"state"], fields[b"last_error"]) == (b"dead", b"stalled")
    assert bus.run(command("HGET", q.metrics_completed, "count")) == b"40"


def _all_ended(bus: Bus, q: QueueKeys, many: int) -> bool:
    done = int(bus.run(command("HGET", q.metrics_completed, "count")) or 0)
    dead: int = bus.run(command("ZCARD", q.dead))
    return done + dead == many
