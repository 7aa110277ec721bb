"""All loops at work over one address: a worker of each kind and a pump in threads, and the same in
an event loop, each worker on a queue of its own. What they do and what they meet is noted."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from queue_core import telemetry
from queue_core.async_bus import async_connect
from queue_core.bus import Bus, connect
from queue_core.errors import EchoMQError
from queue_core.ids import Minter
from queue_core.keys import QueueKeys, queue
from queue_core.plans import Call, Plan
from queue_core.verbs import admission
from queue_core.work.async_batch_consumer import AsyncBatchConsumer
from queue_core.work.async_consumer import AsyncConsumer
from queue_core.work.async_metronome import AsyncMetronome
from queue_core.work.async_pump import AsyncPump
from queue_core.work.batch_consumer import BatchConsumer
from queue_core.work.consumer import Consumer
from queue_core.work.metronome import Metronome
from queue_core.work.pump import Pump
from queue_core.work.task import AsyncTask, Task
from tests.builders import a_lane, command
from tests.servers import until

BEAT_MS = 40
LEASE_MS = 3_000
PATIENCE_S = 20

_numbers = itertools.count()
_minter = Minter(1001)


def minted() -> Plan[bytes]:
    """An id of the tests' own."""
    return _minter.mint()
    yield


class Crew:
    """`names` are the loops as their log calls them, workers first. `done` counts what handlers
    were given, by payload; those of payload `hold` wait for `go`."""

    def __init__(
        self,
        url: str,
        queues: Sequence[QueueKeys],
        *,
        beat_ms: int = BEAT_MS,
        lease_ms: int = LEASE_MS,
        **options: Any,
    ) -> None:
        self.queues = list(queues)
        self.bus: Bus = connect(url, **options)
        self.go = threading.Event()
        self.held = threading.Semaphore(0)
        self.done: Counter[bytes] = Counter()
        self.codes: dict[str, list[str]] = {}
        self._loop = asyncio.new_event_loop()
        self._threads = [threading.Thread(target=self._loop.run_forever, daemon=True)]
        self._threads[0].start()
        self._detach = telemetry.attach("loop.trouble", self._met)
        self.abus = self._await(async_connect(url, **options))
        terms: Any = {"beat_ms": beat_ms, "lease_ms": lease_ms}
        half = len(self.queues) // 2
        self.threaded = self._made(
            (Consumer, BatchConsumer, Metronome, Pump), self.bus, self.queues[:half], self._handle,
            self._handle_all, terms,
        )  # fmt: skip
        self.awaited = self._await(self._made_there(self.queues[half:], terms))
        self.workmen = (*self.threaded[:-1], *self.awaited[:-1])
        self.loops = (*self.workmen, self.threaded[-1], self.awaited[-1])
        self.names = tuple(loop._trouble._name for loop in self.loops)
        self.workers, self.pumps = self.names[:-2], self.names[-2:]
        self._running = [
            asyncio.run_coroutine_threadsafe(one.run(), self._loop) for one in self.awaited
        ]
        for loop in self.threaded:
            self._threads.append(threading.Thread(target=loop.run, daemon=True))
            self._threads[-1].start()

    def _made(
        self,
        kinds: Any,
        bus: Any,
        queues: list[QueueKeys],
        handle: Any,
        handle_all: Any,
        terms: Any,
    ) -> tuple[Any, ...]:
        """A consumer, a batch consumer, a metronome, and a pump of all their queues."""
        consumer, batches, metronome, pump = kinds
        first, second, third = (q.name for q in queues)
        return (
            consumer(bus, first, handle, concurrency=2, **terms),
            batches(bus, second, handle_all, concurrency=2, window_ms=10, lanes=True, **terms),
            metronome(bus, {third: handle}, workers=2, **terms),
            pump(bus, queues, minted),
        )

    async def _made_there(self, queues: list[QueueKeys], terms: Any) -> tuple[Any, ...]:
        kinds = (AsyncConsumer, AsyncBatchConsumer, AsyncMetronome, AsyncPump)
        return self._made(
            kinds, self.abus, queues, self._handle_awaited, self._handle_all_awaited, terms
        )

    def _await(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE_S)

    def tell(self, verb: str, *args: Any) -> None:
        """Have each worker asked `quiet`, say, where it belongs."""
        for loop in self.threaded[:-1]:
            getattr(loop, verb)(*args)
        for loop in self.awaited[:-1]:
            self._loop.call_soon_threadsafe(getattr(loop, verb), *args)

    # ---- handlers ----------------------------------------------------------------------------

    def _handle(self, task: Task) -> None:
        if task.payload.startswith(b"hold"):
            self.held.release()
            assert self.go.wait(PATIENCE_S)
        self.done[task.payload] += 1

    async def _handle_awaited(self, task: AsyncTask) -> None:
        if task.payload.startswith(b"hold"):
            self.held.release()
            assert await asyncio.to_thread(self.go.wait, PATIENCE_S)
        self.done[task.payload] += 1

    def _handle_all(self, tasks: Sequence[Task]) -> dict[bytes, None]:
        for task in tasks:
            self._handle(task)
        return dict.fromkeys(task.id for task in tasks)

    async def _handle_all_awaited(self, tasks: Sequence[AsyncTask]) -> dict[bytes, None]:
        for task in tasks:
            await self._handle_awaited(task)
        return dict.fromkeys(task.id for task in tasks)

    # ---- what tests ask ----------------------------------------------------------------------

    def _met(self, _event: str, values: Mapping[str, Any]) -> None:
        self.codes.setdefault(values["loop"], []).append(values["code"])

    def admit(self, kinds: tuple[str, ...] = ("flat", "lane", "due")) -> set[bytes]:
        """A job of each kind into each queue, through trouble too; their payloads."""
        asked: set[bytes] = set()
        for q, kind in itertools.product(self.queues, kinds):
            job_id, payload = _minter.mint(), b"%s%d" % (kind.encode(), next(_numbers))
            self._persist(lambda q=q, kind=kind, at=(job_id, payload): _admit(q, kind, *at))
            asked.add(payload)
        return asked

    def hold(self) -> set[bytes]:
        """Have a job in hand in each worker; their payloads."""
        asked = self.admit(("hold",))
        for _ in self.queues:
            assert self.held.acquire(timeout=PATIENCE_S)
        return asked

    def _persist(self, plan: Callable[[], Plan[Any]]) -> None:
        def sent() -> bool:
            with contextlib.suppress(EchoMQError):
                return bool(self.bus.run(plan()))
            return False

        until(sent, "it is admitted")

    def met(self, names: tuple[str, ...], code: str) -> None:
        """Wait until each of these loops has met this."""
        until(lambda: all(code in self.codes.get(name, ()) for name in names), f"{code} is met")

    def served(self, payloads: set[bytes]) -> None:
        """Wait until all of these were handled and nothing is left on the bus."""
        until(
            lambda: payloads <= self.done.keys(),
            lambda: f"{sorted(payloads - self.done.keys())} are served, too",
        )
        until(lambda: not any(self.bus.run_all([_left(q) for q in self.queues])), "none is left")

    @property
    def watches(self) -> list[Any]:
        """The lines that hear."""
        return [watch for loop in self.loops for watch in loop._watches]

    def at(self) -> set[int]:
        """The ports of the servers that the loops hear of and work on."""
        heard = [watch._link.node for watch in self.watches if watch._link is not None]
        return {int(node.rpartition(":")[2]) for node in heard}

    def late(self) -> int:
        """How many jobs wait for their time."""
        return sum(self.bus.run_all([command("ZCARD", q.schedule) for q in self.queues]))

    def close(self) -> None:
        """End in order."""
        self.go.set()
        self.tell("stop")
        self.threaded[-1].stop()
        self._loop.call_soon_threadsafe(self.awaited[-1].stop)
        ends = [one.result(PATIENCE_S) for one in self._running]
        for thread in self._threads[1:]:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
        self._await(self.abus.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._threads[0].join(PATIENCE_S)
        self._loop.close()
        self.bus.close()
        self._detach()
        assert ends == [True, True, True, None]


def _admit(q: QueueKeys, kind: str, job_id: bytes, payload: bytes) -> Plan[Any]:
    if kind == "lane":
        return admission.lane_enqueue(q, a_lane(), job_id, payload)
    if kind == "due":
        return admission.enqueue_in(q, job_id, payload, 20)
    return admission.enqueue(q, job_id, payload)


def _left(q: QueueKeys) -> Plan[int]:
    left = 0
    for key in (q.pending, q.active, q.schedule, q.ring):
        left += yield Call("LLEN" if key == q.ring else "ZCARD", (key,))
    return left


def six_queues(near: Callable[[QueueKeys], bool] = lambda _: True) -> list[QueueKeys]:
    """Fresh queues for a crew."""
    stem = f"crew{os.getpid()}.{time.monotonic_ns()}"
    fitting = (q for n in itertools.count() if near(q := queue(f"{stem}.{n}")))
    return list(itertools.islice(fitting, 6))


@contextlib.contextmanager
def at_work(url: str, queues: Sequence[QueueKeys], **options: Any) -> Iterator[Crew]:
    """A crew for the length of a test."""
    crew = Crew(url, queues, **options)
    try:
        yield crew
    finally:
        crew.close()
