"""One queue for an asyncio application: its verbs, each awaited."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from queue_core import application
from queue_core.application import Admitted, Client, minting
from queue_core.errors import EchoMQError
from queue_core.jobs import Job, Lease
from queue_core.keys import queue
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.queue import LEASE_MS
from queue_core.reads.snapshot import Snapshot

T = TypeVar("T")


class AsyncRuns(Protocol):
    """A bus: whatever runs plans when awaited."""

    async def run(self, plan: Plan[T]) -> T:
        """The plan's result."""


class AsyncQueue:
    """A queue on an asyncio bus; `Queue` says what each verb does."""

    def __init__(self, bus: AsyncRuns, name: bytes | str, *, node: int | None = None) -> None:
        self._bus = bus
        self.keys = queue(name)
        self._at = Client(self.keys, minting(bus, node))

    async def enqueue(
        self,
        payload: bytes | str,
        *,
        group: bytes | str | None = None,
        job_id: bytes | str | None = None,
    ) -> Admitted:
        """As `Queue.enqueue`."""
        return await self._bus.run(application.enqueue(self._at, payload, group, job_id))

    async def enqueue_at(
        self,
        payload: bytes | str,
        run_at_ms: int,
        *,
        group: bytes | str | None = None,
        job_id: bytes | str | None = None,
    ) -> Admitted:
        """As `Queue.enqueue_at`."""
        return await self._bus.run(
            application.enqueue_at(self._at, payload, run_at_ms, group, job_id)
        )

    async def enqueue_in(
        self,
        payload: bytes | str,
        delay_ms: int,
        *,
        group: bytes | str | None = None,
        job_id: bytes | str | None = None,
    ) -> Admitted:
        """As `Queue.enqueue_in`."""
        return await self._bus.run(
            application.enqueue_in(self._at, payload, delay_ms, group, job_id)
        )

    async def enqueue_once(
        self,
        payload: bytes | str,
        dedup: bytes | str,
        ttl_ms: int,
        *,
        group: bytes | str | None = None,
        delay_ms: int | None = None,
        job_id: bytes | str | None = None,
    ) -> Admitted:
        """As `Queue.enqueue_once`."""
        return await self._bus.run(
            application.enqueue_once(self._at, payload, dedup, ttl_ms, group, delay_ms, job_id)
        )

    async def enqueue_many(self, payloads: Iterable[bytes | str]) -> list[Admitted | EchoMQError]:
        """As `Queue.enqueue_many`."""
        return await self._bus.run(application.enqueue_many(self._at, payloads))

    async def claim(self, lease_ms: int = LEASE_MS, *, worker: bytes | str = b"") -> Lease | None:
        """As `Queue.claim`."""
        return await self._bus.run(application.claim(self._at, lease_ms, worker))

    async def lane_claim(
        self, lease_ms: int = LEASE_MS, *, worker: bytes | str = b""
    ) -> Lease | None:
        """As `Queue.lane_claim`."""
        return await self._bus.run(application.lane_claim(self._at, lease_ms, worker))

    async def complete(self, held: Lease, result: bytes | str | None = None) -> Word:
        """As `Queue.complete`."""
        return await self._bus.run(application.complete(self._at, held, result))

    async def retry(
        self, held: Lease, delay_ms: int, max_attempts: int, error: bytes | str
    ) -> Word:
        """As `Queue.retry`."""
        return await self._bus.run(application.retry(self._at, held, delay_ms, max_attempts, error))

    async def delay(self, held: Lease, delay_ms: int) -> Word:
        """As `Queue.delay`."""
        return await self._bus.run(application.delay(self._at, held, delay_ms))

    async def extend(self, held: Lease, lease_ms: int = LEASE_MS) -> Word:
        """As `Queue.extend`."""
        return await self._bus.run(application.extend(self._at, held, lease_ms))

    async def progress(self, job_id: bytes | str, text: bytes | str) -> Word:
        """As `Queue.progress`."""
        return await self._bus.run(application.progress(self._at, job_id, text))

    async def log(self, job_id: bytes | str, line: bytes | str, *, keep: int = 0) -> int | Word:
        """As `Queue.log`."""
        return await self._bus.run(application.log(self._at, job_id, line, keep))

    async def mint(self, namespace: bytes | str = b"JOB") -> bytes:
        """As `Queue.mint`."""
        return await self._bus.run(application.mint(self._at, namespace))

    async def job(self, job_id: bytes | str) -> Snapshot[Job | None]:
        """As `Queue.job`."""
        return await self._bus.run(application.job(self._at, job_id))

    async def counts(self) -> Snapshot[dict[str, int]]:
        """As `Queue.counts`."""
        return await self._bus.run(application.counts(self._at))

    async def pause(self) -> Word:
        """As `Queue.pause`."""
        return await self._bus.run(application.pause(self._at))

    async def resume(self) -> Word:
        """As `Queue.resume`."""
        return await self._bus.run(application.resume(self._at))

    async def bound(
        self,
        concurrency: int | None = None,
        rate: int | None = None,
        window_ms: int | None = None,
        *,
        enforce: bool = True,
    ) -> Word:
        """As `Queue.bound`."""
        return await self._bus.run(
            application.bound(self._at, concurrency, rate, window_ms, enforce)
        )

    async def keep_logs(self, after_ms: int | None) -> Word:
        """As `Queue.keep_logs`."""
        return await self._bus.run(application.keep_logs(self._at, after_ms))
