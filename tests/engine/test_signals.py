"""A worker process ends in order at the first signal, which `test_examples` shows, and at once at
the second."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from queue_core.bus import Bus
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys
from queue_core.verbs import admission
from queue_core.work.signals import STOPPING
from tests.builders import command

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 30


@contextmanager
def worker(words: list[str], **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A worker process, killed at the end where it still lives."""
    process = subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, env={**os.environ, **environment},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        try:
            yield process
        finally:
            process.kill()


def until(process: subprocess.Popen[str], line: str) -> None:
    """Read what it says up to a line."""
    assert process.stdout is not None
    assert line in (said.rstrip() for said in process.stdout), f"it never said {line!r}"


@pytest.mark.parametrize("loop", ["consumer", "batches", "metronome"])
@pytest.mark.parametrize(
    ("kind", "code", "last"), [("threaded", 143, []), ("awaited", 0, ["cancelled", "False"])]
)
def test_a_second_signal_ends_a_worker_at_once(
    server: Embedded, bus: Bus, q: QueueKeys, mint: Callable[[], bytes], loop: str, kind: str,
    code: int, last: list[str],
) -> None:  # fmt: skip
    words = ["-m", "tests.engine.stubborn", kind, loop, server.url, q.name.decode()]
    bus.run(admission.enqueue(q, mint(), b"600"))
    with worker(words) as process:
        until(process, "in hand")
        process.send_signal(signal.SIGTERM)
        until(process, STOPPING)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == code
    assert said.split() == last
    assert bus.run(command("ZCARD", q.active)) == 1  # by its lease it returns


def test_the_console_s_worker_takes_coroutines_and_a_second_signal_ends_it_at_once(
    server: Embedded, bus: Bus, q: QueueKeys, mint: Callable[[], bytes], tmp_path: Path
) -> None:
    handler = f"{q.name.decode()}=tests.engine.stubborn.handle_awaited"
    bus.run(admission.enqueue(q, mint(), b"600"))
    environment = {"ECHOMQ_BUS_URL": server.url, "ECHOMQ_VAR": str(tmp_path)}
    with worker(["manage.py", "echomq_work", handler], **environment) as process:
        until(process, "in hand")
        process.send_signal(signal.SIGINT)
        until(process, STOPPING)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 128 + signal.SIGTERM
    assert bus.run(command("ZCARD", q.active)) == 1
