"""A worker process ends in order at the first signal, which `test_examples` shows, and at once at
the second."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from queue_core.async_bus import AsyncBus
from queue_core.bus import Bus
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys, queue
from queue_core.verbs import admission
from queue_core.work.async_consumer import AsyncConsumer
from queue_core.work.consumer import Consumer
from queue_core.work.flags import Flag
from queue_core.work.signals import STOPPING, async_run_until_signalled, run_until_signalled
from tests.builders import command
from tests.servers import until as holds

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


def test_the_console_s_worker_serves_queues_with_one_set_of_hands(
    server: Embedded, bus: Bus, q: QueueKeys, mint: Callable[[], bytes], tmp_path: Path
) -> None:
    other = queue(f"{q.name.decode()}.other")
    for one in (q, other):
        bus.run(admission.enqueue(one, mint(), b"0.01"))
    environment = {"ECHOMQ_BUS_URL": server.url, "ECHOMQ_VAR": str(tmp_path)}
    handlers = [f"{one.name.decode()}=tests.engine.stubborn.handle" for one in (q, other)]
    words = ["manage.py", "echomq_work", "--metronome", "--concurrency", "1", *handlers]
    with worker(words, **environment) as process:
        until(process, "in hand")
        until(process, "in hand")
        holds(
            lambda: [bus.run(command("ZCARD", one.workers)) for one in (q, other)] == [1, 1],
            "presence",
        )
        (name,) = bus.run(command("ZRANGE", q.workers, 0, 9))
        assert bus.run(command("ZRANGE", other.workers, 0, 9)) == [name]
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    for one in (q, other):
        assert bus.run(command("HGET", one.metrics_completed, "count")) == b"1"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--most", "2", "a=tests.engine.stubborn.handle"], "--most goes with --metronome."),
        (
            [
                "--metronome", "a=tests.engine.stubborn.handle",
                "b=tests.engine.stubborn.handle_awaited",
            ],
            "all coroutine functions, or none is",
        ),
        (["--lease-ms", "0", "a=tests.engine.stubborn.handle"], "a lease in ms"),
        (["a=tests.engine.stubborn.handle"] * 2, "a is given two handlers"),
    ],
)  # fmt: skip
def test_the_console_s_worker_says_which_of_its_words_is_wrong(
    server: Embedded, tmp_path: Path, words: list[str], why: str
) -> None:
    environment = {**os.environ, "ECHOMQ_BUS_URL": server.url, "ECHOMQ_VAR": str(tmp_path)}
    said = subprocess.run(
        [sys.executable, "manage.py", "echomq_work", *words], cwd=ROOT, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert said.returncode == 1
    assert why in said.stderr
    assert "Traceback" not in said.stderr


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


@pytest.fixture
def alarms() -> Iterator[None]:
    """The signal's handler as it was."""
    before = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.usefixtures("alarms")
def test_a_flag_is_set_by_a_signal_at_any_point_of_a_wait() -> None:
    """An Event is not: the signal may come where the wait holds the lock that `set` waits for."""
    for lines in range(1, 30):
        flag, left = Flag(), lines

        def trace(_frame: Any, event: str, _argument: Any) -> Any:
            nonlocal left
            left -= event == "line"
            if not left:
                left = -1
                signal.raise_signal(signal.SIGUSR1)
            return trace

        signal.signal(signal.SIGUSR1, lambda *_, flag=flag: flag.set())
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            came = flag.wait(0.01)
        finally:
            sys.settrace(before)
        assert came == flag.is_set()
        assert flag.wait(0) == flag.is_set()


def _nothing(_task: Any) -> None:
    """A handler."""


async def _nothing_awaited(_task: Any) -> None:
    """The same, awaited."""


class Falls:
    """A loop that falls."""

    def run(self) -> None:
        """At once."""
        raise RuntimeError("fell")

    def stop(self) -> None:
        """Too late."""


def test_a_loop_that_falls_takes_the_others_with_it_and_handlers_of_signals_come_back(
    bus: Bus, q: QueueKeys
) -> None:
    before = [signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)]
    assert not run_until_signalled([Falls(), Consumer(bus, q.name, _nothing)])
    assert [signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)] == before
    assert run_until_signalled([_stopped(Consumer(bus, q.name, _nothing))])


def _stopped(loop: Any) -> Any:
    loop.stop()
    return loop


class FallsAwaited(Falls):
    """The same, awaited."""

    async def run(self) -> None:  # type: ignore[override]
        """At once."""
        raise RuntimeError("fell")


async def test_an_awaited_loop_that_falls_takes_the_others_with_it(
    abus: AsyncBus, q: QueueKeys
) -> None:
    async with asyncio.timeout(PATIENCE_S):
        loops: list[Any] = [FallsAwaited(), AsyncConsumer(abus, q.name, _nothing_awaited)]
        assert not await async_run_until_signalled(loops)
