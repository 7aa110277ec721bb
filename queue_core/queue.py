"""One queue for an application: its verbs, each one call."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from queue_core import application
from queue_core.application import Admitted, Client, minting
from queue_core.errors import EchoMQError
from queue_core.jobs import Job, Lease
from queue_core.keys import queue
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.reads.snapshot import Snapshot

T = TypeVar("T")

LEASE_MS = 30_000
"""How long a claim holds a job where the caller does not say, as in every engine."""


class Runs(Protocol):
    """A bus: whatever runs plans."""

    def run(self, plan: Plan[T]) -> T:
        """The plan's result."""


class Queue:
    """A queue on a blocking bus. Payloads are bytes, or text that is sent as UTF-8.

    Ids are minted under `node` (0..1023), which must be nobody else's; without one, under a number
    that is leased on the bus (`nodes.py`), which costs a round trip now and then and may raise
    `UnavailableError` with code NONODE. `keys` is what plans of `queue_core.verbs` and
    `queue_core.reads` take. Every verb may raise the faults of `queue_core.errors`;
    `InvalidError` before anything is sent. Raises `InvalidError` for a name that no queue may have.
    """

    def __init__(self, bus: Runs, name: bytes | str, *, node: int | None = None) -> None:
        self._bus = bus
        self.keys = queue(name)
        self._at = Client(self.keys, minting(bus, node))

    def enqueue(
        self,
        payload: bytes | str,
        *,
        group: bytes | str | None = None,
        job_id: bytes | str | None = None,
    ) -> Admitted:
        """Admit a job to run as soon as a worker is free, into a lane where `group` names one.

        The id is minted unless `job_id` is given; with the same id a resend after a lost answer
        is safe and answers `duplicate`.
        """
        return self._bus.run(application.enqueue(self._at, payload, group, job_id))

    def enqueue_at(
        self,
        payload: bytes | str,
        run_at_ms: int,
        *,
        group: bytes | str | None = None,
        job_id: bytes | str | None = None,
    ) -> Admitted:
        """Admit a job to run at a time in Unix ms; one that has passed means at once."""
        return self._bus.run(application.enqueue_at(self._at, payload, run_at_ms, group, job_id))

    def enqueue_in(
        self,
        payload: bytes | str,
        delay_ms: int,
        *,
        group: bytes | str | None = None,
        job_id: bytes | str | None = None,
    ) -> Admitted:
        """Admit a job to run `delay_ms` from now, by the server's clock."""
        return self._bus.run(application.enqueue_in(self._at, payload, delay_ms, group, job_id))

    def enqueue_once(
        self,
        payload: bytes | str,
        dedup: bytes | str,
        ttl_ms: int,
        *,
        group: bytes | str | None = None,
        delay_ms: int | None = None,
        job_id: bytes | str | None = None,
    ) -> Admitted:
        """Admit a job, at once or `delay_ms` from now, unless one came in under the same `dedup` id
        within its `ttl_ms`: then `exists`, with the id of that one. The dedup id is of 1 to 255 of
        A-Z a-z 0-9 . _ -; it is free again after `ttl_ms`, whatever became of its job.
        """
        return self._bus.run(
            application.enqueue_once(self._at, payload, dedup, ttl_ms, group, delay_ms, job_id)
        )

    def enqueue_many(self, payloads: Iterable[bytes | str]) -> list[Admitted | EchoMQError]:
        """Admit many jobs in few round trips, each by itself; a fault stands in its job's place."""
        return self._bus.run(application.enqueue_many(self._at, payloads))

    def claim(self, lease_ms: int = LEASE_MS, *, worker: bytes | str = b"") -> Lease | None:
        """Take the oldest job of flat pending for `lease_ms`; None where none waits or the queue
        is paused."""
        return self._bus.run(application.claim(self._at, lease_ms, worker))

    def lane_claim(self, lease_ms: int = LEASE_MS, *, worker: bytes | str = b"") -> Lease | None:
        """Take the oldest job of the lane whose turn it is. None may also mean that this one lane
        was empty."""
        return self._bus.run(application.lane_claim(self._at, lease_ms, worker))

    def complete(self, held: Lease, result: bytes | str | None = None) -> Word:
        """The job is done: `ok`, `gone`, or `stale` where another took it over. `result` reaches
        the parent of a flow."""
        return self._bus.run(application.complete(self._at, held, result))

    def retry(self, held: Lease, delay_ms: int, max_attempts: int, error: bytes | str) -> Word:
        """The attempt failed: `scheduled` for another in `delay_ms`, or `dead` at `max_attempts`;
        `gone`, `stale`."""
        return self._bus.run(application.retry(self._at, held, delay_ms, max_attempts, error))

    def delay(self, held: Lease, delay_ms: int) -> Word:
        """Put the job back for `delay_ms` without counting the attempt as failed: `ok`, `gone`,
        `stale`."""
        return self._bus.run(application.delay(self._at, held, delay_ms))

    def extend(self, held: Lease, lease_ms: int = LEASE_MS) -> Word:
        """Hold the job for `lease_ms` from now: `ok`, `gone`, `stale` or `not_held`."""
        return self._bus.run(application.extend(self._at, held, lease_ms))

    def progress(self, job_id: bytes | str, text: bytes | str) -> Word:
        """Say how far a job is; listeners are told at once. `ok` or `gone`."""
        return self._bus.run(application.progress(self._at, job_id, text))

    def log(self, job_id: bytes | str, line: bytes | str, *, keep: int = 0) -> int | Word:
        """Write a line into a job's log, keeping the last `keep` (0: all); how many there are now,
        or `gone`."""
        return self._bus.run(application.log(self._at, job_id, line, keep))

    def mint(self, namespace: bytes | str = b"JOB") -> bytes:
        """A fresh id in a namespace of three capital letters: for `job_id`, to be able to send
        again, for the jobs of a flow, or as a lane's name."""
        return self._bus.run(application.mint(self._at, namespace))

    def job(self, job_id: bytes | str) -> Snapshot[Job | None]:
        """A job's row with its payload, None where there is none."""
        return self._bus.run(application.job(self._at, job_id))

    def counts(self) -> Snapshot[dict[str, int]]:
        """How many are pending, active, in the schedule and dead, and how many completed and failed
        so far. Jobs in lanes are in none of these."""
        return self._bus.run(application.counts(self._at))

    def pause(self) -> Word:
        """Let nothing more be claimed: `ok` or `noop`."""
        return self._bus.run(application.pause(self._at))

    def resume(self) -> Word:
        """Let claims go on: `ok` or `noop`."""
        return self._bus.run(application.resume(self._at))

    def bound(
        self,
        concurrency: int | None = None,
        rate: int | None = None,
        window_ms: int | None = None,
        *,
        enforce: bool = True,
    ) -> Word:
        """Let at most `concurrency` jobs be held at once and `rate` be claimed in each `window_ms`,
        by all workers together; None lifts either. `ok` or `noop`. With `enforce` off the numbers
        are only there to be asked for."""
        return self._bus.run(application.bound(self._at, concurrency, rate, window_ms, enforce))

    def keep_logs(self, after_ms: int | None) -> Word:
        """Let a job's log go `after_ms` after the job was completed; None, as at first, keeps logs
        for ever. `ok` or `noop`."""
        return self._bus.run(application.keep_logs(self._at, after_ms))
