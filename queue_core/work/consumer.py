"""A worker of one queue: claims from the ring and from flat pending, runs the handler in threads,
settles under the lease's token.

One thread claims, parks and is parked; `concurrency` threads handle; one beats: it extends the
leases in hand and says on the bus that the worker lives. Trouble with the server ends none of
them. A job whose worker dies comes back when its lease ends, by a pump.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from queue_core.errors import EchoMQError
from queue_core.jobs import Lease
from queue_core.keys import queue
from queue_core.outcomes import Word
from queue_core.plans import Plan, Reply, Wait
from queue_core.verbs import settle
from queue_core.work.backoff import exponential, jitter
from queue_core.work.presence import Presence, worker_id
from queue_core.work.serving import Policy, announce, claim_next, settle_by, waited_ms
from queue_core.work.task import Runs, Task
from queue_core.work.trouble import Trouble
from queue_core.work.verdicts import Done, Failed, Verdict

LEASE_MS = 30_000
BEAT_MS = 1_000
HEARTBEAT_S = 4.0
DRAIN_S = 15.0
DEFAULT_POLICY = Policy(jitter(exponential(1_000, 60_000)), max_attempts=3)

Handler = Callable[[Task], Verdict | None]

_log = logging.getLogger(__name__)


class Consumer:
    """Serves one queue until `stop`.

    `handler` takes a `Task` and answers a `Verdict`, or None for done; what it raises is the
    attempt's failure. `lease_ms` is how long a claim holds without a beat; `beat_ms` how long it
    parks where nothing waits. `drain_s` is what the jobs in hand get to end after `stop`.
    """

    def __init__(
        self,
        bus: Runs,
        name: bytes | str,
        handler: Handler,
        *,
        concurrency: int = 1,
        lease_ms: int = LEASE_MS,
        beat_ms: int = BEAT_MS,
        policy: Policy = DEFAULT_POLICY,
        drain_s: float = DRAIN_S,
        label: str = "",
    ) -> None:
        self.q = queue(name)
        self.worker = worker_id(label)
        self._bus = bus
        self._handler = handler
        self._concurrency = concurrency
        self._lease_ms = lease_ms
        self._beat_ms = beat_ms
        self._policy = policy
        self._drain_s = drain_s
        self._presence = Presence(self.q, self.worker, concurrency)
        self._slots = threading.Semaphore(concurrency)
        self._held: dict[bytes, Task] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._quiet = threading.Event()
        self._turn = 0

    # ---- what others may ask -----------------------------------------------------------------

    def stop(self) -> None:
        """Claim nothing more; `run` returns when the jobs in hand are settled."""
        self._stopping.set()

    def quiet(self, on: bool = True) -> None:
        """Claim nothing more, but stay; or go on."""
        if on:
            self._quiet.set()
        else:
            self._quiet.clear()

    @property
    def in_hand(self) -> int:
        """Jobs claimed and not settled yet."""
        return len(self._held)

    # ---- the loop ----------------------------------------------------------------------------

    def run(self) -> bool:
        """Serve until `stop`. Answers whether every job in hand was settled in time; what was
        not comes back when its lease ends."""
        beater = threading.Thread(target=self._beat, name=f"beat {self.worker!r}", daemon=True)
        beater.start()
        pool = ThreadPoolExecutor(self._concurrency, thread_name_prefix="handler")
        try:
            self._serve(pool)
            drained = self._drain()
        finally:
            pool.shutdown(wait=False)
            self._ended.set()
        beater.join(2 * HEARTBEAT_S)
        return drained

    def _serve(self, pool: ThreadPoolExecutor) -> None:
        trouble = Trouble(f"consumer of {self.q.name!r}", _log)
        while not self._stopping.is_set():
            if self._quiet.is_set() or not self._slots.acquire(timeout=0.2):
                self._stopping.wait(0.05)
                continue
            lease = None
            try:
                lease = self._claim()
                if lease is None:
                    self._park()
                trouble.over()
            except EchoMQError as fault:
                self._stopping.wait(trouble.met(fault))
            finally:
                if lease is None:
                    self._slots.release()
            if lease is not None:
                self._hand_over(pool, lease)

    def _claim(self) -> Lease | None:
        self._turn += 1
        return self._bus.run(claim_next(self.q, self._lease_ms, self.worker, self._turn))

    def _park(self) -> None:
        """Wait for a wake of the ring, a beat at most: nothing wakes for flat pending."""
        if not self._stopping.is_set():
            self._bus.run(_wake(self.q.wake, self._beat_ms))

    def _hand_over(self, pool: ThreadPoolExecutor, lease: Lease) -> None:
        task = Task(self._bus, self.q, lease)
        with self._lock:
            self._held[lease.id] = task
        pool.submit(self._handle, task)

    def _drain(self) -> bool:
        deadline = time.monotonic() + self._drain_s
        while self._held and time.monotonic() < deadline:
            self._ended.wait(0.02)
        if self._held:
            _log.error("%d jobs are left unsettled; they return by lease", len(self._held))
        return not self._held

    # ---- one job -----------------------------------------------------------------------------

    def _handle(self, task: Task) -> None:
        began = time.monotonic()
        try:
            verdict = self._verdict(task)
            word = self._settle(task, verdict)
            if word is not None:
                self._presence.ran(
                    waited_ms(task.lease, self._lease_ms), (time.monotonic() - began) * 1000
                )
                self._announce(task.lease, verdict, word)
        finally:
            with self._lock:
                self._held.pop(task.id, None)
            self._slots.release()

    def _verdict(self, task: Task) -> Verdict:
        try:
            return self._handler(task) or Done()
        except Exception as error:  # noqa: BLE001 (whatever a handler raises is its job's failure)
            return Failed(f"{type(error).__name__}: {error}")

    def _settle(self, task: Task, verdict: Verdict) -> Word | None:
        """Settle, as often as it takes: repeated, it is refused as stale or gone at worst. None
        where the worker was ended first."""
        trouble = Trouble(f"settle on {self.q.name!r}", _log)
        while not self._ended.is_set():
            try:
                word = self._bus.run(settle_by(self.q, task.lease, verdict, self._policy))
            except EchoMQError as fault:
                self._ended.wait(trouble.met(fault))
                continue
            trouble.over()
            if word in (Word.stale, Word.gone):
                _log.warning("%r was no longer ours when it ended: %s", task.id, word.value)
            return word
        return None

    def _announce(self, lease: Lease, verdict: Verdict, word: Word) -> None:
        try:
            self._bus.run(announce(self.q, lease, verdict, word))
        except EchoMQError:
            _log.debug("nobody was told of %r", lease.id)

    # ---- the beat ----------------------------------------------------------------------------

    def _beat(self) -> None:
        every_s = min(HEARTBEAT_S, self._lease_ms / 3000)
        trouble = Trouble(f"beat on {self.q.name!r}", _log)
        while True:
            wait_s = every_s
            try:
                self._extend()
                quiet = self._quiet.is_set() or self._stopping.is_set()
                self._bus.run(self._presence.heartbeat(self.in_hand, quiet))
                trouble.over()
            except EchoMQError as fault:
                wait_s = min(every_s, trouble.met(fault))
            if self._ended.wait(wait_s):
                break
        try:
            self._bus.run(self._presence.leave())
        except EchoMQError:
            _log.debug("the bus was not told of the end of %r", self.worker)

    def _extend(self) -> None:
        with self._lock:
            held = list(self._held.values())
        if not held:
            return
        leases = [(task.id, task.lease.token) for task in held]
        failed = set(self._bus.run(settle.extend_locks(self.q, leases, self._lease_ms)))
        for task in held:
            if task.id in failed and task.id in self._held and not task.lost:
                task.lost = True
                _log.warning("the lease of %r was lost while it was handled", task.id)


def _wake(key: bytes, timeout_ms: int) -> Plan[Reply]:
    return (yield Wait((key,), timeout_ms))
