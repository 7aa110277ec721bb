"""A loop of either kind at work in a thread, for the length of a test."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from queue_core.async_bus import async_connect
from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys
from queue_core.scripts import SCRIPTS
from queue_core.verbs import admission
from queue_core.work.async_batch_consumer import AsyncBatchConsumer
from queue_core.work.async_consumer import AsyncConsumer
from queue_core.work.async_metronome import AsyncMetronome
from queue_core.work.backoff import fixed
from queue_core.work.batch_consumer import BatchConsumer
from queue_core.work.consumer import Consumer
from queue_core.work.metronome import Metronome
from queue_core.work.serving import Policy
from queue_core.work.task import Task
from queue_core.work.verdicts import Done
from tests.builders import command

NEVER_MS = 600_000
"""A beat that does not come: whatever is served then was heard of, or asked for at once."""

PATIENCE_S = 20
LOOPS: dict[str, tuple[Any, Any]] = {
    "consumer": (Consumer, AsyncConsumer),
    "batches": (BatchConsumer, AsyncBatchConsumer),
    "metronome": (Metronome, AsyncMetronome),
}
KINDS = ["threads", "threads awaiting", "tasks", "tasks and threads"]
"""A threaded loop with plain and with awaited handlers, an asyncio loop with awaited and plain."""

ONCE = Policy(fixed(0), max_attempts=1)


def awaited(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A plain handler as a coroutine function."""

    async def call(given: Any) -> Any:
        return await asyncio.to_thread(handler, given)

    return call


class Manned:
    """One loop. `loop` is the thing itself."""

    def __init__(self, which: str, kind: str, url: str, *args: Any, **options: Any) -> None:
        self.kind = kind
        self.url = url
        self.drained: bool | None = None
        self.loop: Any = None
        self._made = LOOPS[which][kind.startswith("tasks")]
        self._args = [self._fit(one) for one in args]
        self._options = {"beat_ms": NEVER_MS, **options}
        self._stands = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._here: asyncio.AbstractEventLoop | None = None

    def _fit(self, argument: Any) -> Any:
        if self.kind not in ("threads awaiting", "tasks"):
            return argument
        if isinstance(argument, Mapping):
            return {name: awaited(handler) for name, handler in argument.items()}
        return awaited(argument) if callable(argument) else argument

    def _run(self) -> None:
        if self.kind.startswith("tasks"):
            asyncio.run(self._run_tasks())
            return
        bus = connect(self.url)
        self.loop = self._made(bus, *self._args, **self._options)
        self._stands.set()
        self.drained = self.loop.run()
        bus.close()

    async def _run_tasks(self) -> None:
        self._here = asyncio.get_running_loop()
        bus = await async_connect(self.url)
        self.loop = self._made(bus, *self._args, **self._options)
        self._stands.set()
        self.drained = await self.loop.run()
        await bus.close()

    def start(self) -> Manned:
        """Let it work."""
        self._thread.start()
        assert self._stands.wait(PATIENCE_S)
        return self

    def tell(self, verb: Callable[..., None], *args: Any) -> None:
        """Call `stop` or `quiet` where they belong."""
        if self._here is None:
            verb(*args)
        else:
            self._here.call_soon_threadsafe(verb, *args)

    def end(self) -> bool | None:
        """Stop it; whether it drained."""
        if self._thread.is_alive():
            with contextlib.suppress(RuntimeError):
                self.tell(self.loop.stop)
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        return self.drained


class Seen:
    """A handler that notes its batches' payloads and finds all of them done."""

    def __init__(self) -> None:
        self.batches: list[list[bytes]] = []

    def __call__(self, tasks: Sequence[Task]) -> dict[bytes, Done]:
        self.batches.append([task.payload for task in tasks])
        return {task.id: Done() for task in tasks}

    @property
    def sizes(self) -> list[int]:
        return [len(batch) for batch in self.batches]


Fill = Callable[..., list[bytes]]
"""Admits so many jobs; into a lane, where one is named."""


@contextlib.contextmanager
def manned(which: str, kind: str, url: str, *args: Any, **options: Any) -> Iterator[Manned]:
    """A loop at work, stopped in order at the end."""
    one = Manned(which, kind, url, *args, **options).start()
    try:
        yield one
    finally:
        one.end()


@contextlib.contextmanager
def threaded(bus: Bus, q: QueueKeys, handler: Any, **options: Any) -> Iterator[Consumer]:
    """A threaded worker, stopped in order at the end."""
    worker = Consumer(bus, q.name, handler, **options)
    running = threading.Thread(target=worker.run, daemon=True)
    running.start()
    try:
        yield worker
    finally:
        worker.stop()
        running.join(PATIENCE_S)
        assert not running.is_alive()


def until(true: Callable[[], object]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def admit(
    bus: Bus, mint: Callable[[], bytes], q: QueueKeys, many: int, lane: bytes | None = None
) -> list[bytes]:
    """Admit so many jobs, numbered in their payloads; into a lane, where one is named, which then
    is their payload."""
    ids = [mint() for _ in range(many)]
    flat = [(job_id, b"%d" % n) for n, job_id in enumerate(ids)]
    if lane is None:
        bus.run(admission.enqueue_many(q, flat))
    for job_id in ids if lane else ():
        bus.run(admission.lane_enqueue(q, lane, job_id, lane))
    return ids


def done(bus: Bus, q: QueueKeys, many: int) -> Callable[[], bool]:
    """Whether so many jobs of a queue were completed."""
    return lambda: bus.run(command("HGET", q.metrics_completed, "count")) == b"%d" % many


class Listed:
    """The scripts that a server is asked to run for one queue while this is open."""

    def __init__(self, server: Embedded, q: QueueKeys) -> None:
        self._base = q.base.decode()
        self._names: list[str] = []
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(server.socket))

    def __enter__(self) -> Listed:
        self._socket.sendall(b"MONITOR\r\n")
        assert self._socket.recv(5) == b"+OK\r\n"
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _listen(self) -> None:
        with contextlib.suppress(OSError), self._socket.makefile("r") as lines:
            for line in lines:
                called = re.search(r'(?i)"evalsha(?:_ro)?" "(\w+)"', line)
                if called and self._base in line:
                    self._names.append(_NAMES.get(called[1], "unknown"))

    def count(self, part: str) -> int:
        """How many were called whose name has this part."""
        return sum(part in name for name in self._names)


_NAMES = {one.sha: name for name, one in SCRIPTS.items()}
