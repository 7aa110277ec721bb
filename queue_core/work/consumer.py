"""A worker of one queue: claims from the ring and from flat pending, runs the handler in threads,
settles under the lease's token.

One thread claims and parks; `concurrency` threads handle; one beats: it extends the leases in
hand and says on the bus that the worker lives; one watches the handlers' time, where it is limited.
Trouble with the server ends none of them. A job whose worker dies comes back when its lease ends,
by a pump.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from queue_core.errors import EchoMQError
from queue_core.jobs import Lease
from queue_core.keys import queue
from queue_core.outcomes import Word
from queue_core.work.backoff import exponential, jitter
from queue_core.work.presence import Presence, worker_id
from queue_core.work.serving import (
    Held,
    Policy,
    announce,
    claim_next,
    extend_all,
    held_by,
    park,
    settle_by,
    waited_ms,
)
from queue_core.work.task import Runs, Task
from queue_core.work.trouble import Trouble
from queue_core.work.verdicts import Verdict, failure, overtime, verdict_of

LEASE_MS = 30_000
BEAT_MS = 1_000
HEARTBEAT_S = 4.0
DRAIN_S = 15.0
DEFAULT_POLICY = Policy(jitter(exponential(1_000, 60_000)), max_attempts=3)

Handler = Callable[[Task], Verdict | None]

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _InHand:
    """A job in hand: since when its handler runs, and whether its verdict has fallen."""

    task: Task
    since: float | None = None
    decided: bool = False


class Consumer:
    """Serves one queue until `stop`.

    `handler` takes a `Task` and answers a `Verdict`, or None for done; what it raises is the
    attempt's failure. `lease_ms` is how long a claim holds without a beat; `beat_ms` how long it
    parks where nothing waits. `drain_s` is what the jobs in hand get to end after `stop`.

    A handler that runs over `timeout_ms` (None: no limit) fails its attempt at that moment, and
    what it answers later counts for nothing. Its thread cannot be ended from outside:
    `task.cancel` is asked, and until the handler looks at it and returns it keeps its place of
    `concurrency`.
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
        timeout_ms: int | None = None,
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
        self._timeout_ms = timeout_ms
        self._presence = Presence(self.q, self.worker, concurrency)
        self._slots = threading.Semaphore(concurrency)
        self._held: dict[Held, _InHand] = {}
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
        if self._timeout_ms is not None:
            threading.Thread(
                target=self._watch, args=(self._timeout_ms,), name="handlers' time", daemon=True
            ).start()
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
        if not self._stopping.is_set():
            self._bus.run(park(self.q, self._beat_ms))

    def _hand_over(self, pool: ThreadPoolExecutor, lease: Lease) -> None:
        one = _InHand(Task(self._bus, self.q, lease))
        with self._lock:
            self._held[held_by(lease)] = one
        pool.submit(self._handle, one)

    def _drain(self) -> bool:
        deadline = time.monotonic() + self._drain_s
        while self._held and time.monotonic() < deadline:
            self._ended.wait(0.02)
        if self._held:
            _log.error("%d jobs are left unsettled; they return by lease", len(self._held))
        return not self._held

    # ---- one job -----------------------------------------------------------------------------

    def _handle(self, one: _InHand) -> None:
        one.since = time.monotonic()
        try:
            verdict = self._verdict(one.task)
            if self._decides(one):
                self._finish(one, verdict)
            else:
                _log.warning("the handler of %r returned after its time", one.task.id)
        finally:
            self._slots.release()

    def _verdict(self, task: Task) -> Verdict:
        try:
            return verdict_of(self._handler(task))
        except Exception as error:  # noqa: BLE001 (whatever a handler raises is its job's failure)
            return failure(error)

    def _decides(self, one: _InHand) -> bool:
        """Whether the caller is first with a verdict: the handler, or the watch on its time."""
        with self._lock:
            first, one.decided = not one.decided, True
        return first

    def _finish(self, one: _InHand, verdict: Verdict) -> None:
        lease = one.task.lease
        try:
            word = self._settle(one.task, verdict)
            if word is not None and one.since is not None:
                run_ms = (time.monotonic() - one.since) * 1000
                self._presence.ran(waited_ms(lease, self._lease_ms), run_ms)
                self._announce(lease, verdict, word)
        finally:
            with self._lock:
                self._held.pop(held_by(lease), None)

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

    # ---- the handlers' time -----------------------------------------------------------------

    def _watch(self, timeout_ms: int) -> None:
        """Fail what runs over its time. Whatever begins meanwhile is due later than a whole time
        from now, so that sleeping until the next one is due misses none."""
        wait_s = 0.0
        while not self._ended.wait(wait_s):
            now = time.monotonic()
            wait_s = timeout_ms / 1000
            with self._lock:
                running = [one for one in self._held.values() if not one.decided]
            for one in running:
                left_s = wait_s if one.since is None else one.since + timeout_ms / 1000 - now
                if left_s <= 0 and self._decides(one):
                    one.task.lose("timeout")
                    self._finish(one, overtime(timeout_ms))
                elif left_s > 0:
                    wait_s = min(wait_s, left_s)

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
            held = dict(self._held)
        for proof in self._bus.run(extend_all(self.q, held, self._lease_ms)):
            task = held[proof].task
            if proof in self._held and not task.lost:
                task.lose("lost")
                _log.warning("the lease of %r was lost while it was handled", task.id)
