"""A claimed job as its handler sees it."""

from __future__ import annotations

from typing import Protocol, TypeVar

from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.names import as_bytes
from queue_core.plans import Plan
from queue_core.verbs import jobs
from queue_core.work.cancel import CancelToken

T = TypeVar("T")

KEPT_LINES = 200
"""Lines that a job's log keeps where the handler does not say."""


class Runs(Protocol):
    """A blocking bus: whatever runs plans."""

    def run(self, plan: Plan[T]) -> T:
        """The plan's result."""


class AsyncRuns(Protocol):
    """An awaited bus: whatever runs plans when awaited."""

    async def run(self, plan: Plan[T]) -> T:
        """The plan's result."""


class Attempt:
    """One attempt at one job, whoever runs its handler.

    `lost` turns true when the lease was taken over, the job removed, or the handler's time ran
    out while it ran: whatever it does further counts for nothing. `cancel` is then asked as well,
    for a handler that looks at it.
    """

    def __init__(self, q: QueueKeys, lease: Lease) -> None:
        self._q = q
        self.lease = lease
        self.lost = False
        self.cancel = CancelToken()

    @property
    def id(self) -> bytes:
        """The job's id."""
        return self.lease.id

    @property
    def payload(self) -> bytes:
        """The bytes that were enqueued."""
        return self.lease.payload

    @property
    def attempts(self) -> int:
        """Which attempt this is, from 1."""
        return self.lease.attempts

    @property
    def group(self) -> bytes | None:
        """The lane it came from, None for a flat job."""
        return self.lease.group

    @property
    def queue(self) -> bytes:
        """The queue's name."""
        return self._q.name

    def lose(self, why: str) -> None:
        """Nothing that the handler does further counts."""
        self.lost = True
        self.cancel.cancel(why)

    def let_go(self) -> None:
        """Its worker ends and waits for it no longer; a reason given before stands."""
        self.lose(self.cancel.check() or "stop")


class Task(Attempt):
    """An attempt whose handler runs in a thread."""

    def __init__(self, bus: Runs, q: QueueKeys, lease: Lease) -> None:
        super().__init__(q, lease)
        self._bus = bus

    def progress(self, text: bytes | str) -> None:
        """Say how far it is; shown in consoles and published. Once it is `lost`, nothing: the next
        attempt says how far that is."""
        if not self.lost:
            self._bus.run(jobs.update_progress(self._q, self.id, text))

    def log(self, line: bytes | str, keep: int = KEPT_LINES) -> None:
        """Write a line into the job's log, which keeps its last `keep` lines (0: all)."""
        self._bus.run(jobs.add_log(self._q, self.id, as_bytes(line), keep))


class AsyncTask(Attempt):
    """An attempt whose handler is awaited."""

    def __init__(self, bus: AsyncRuns, q: QueueKeys, lease: Lease) -> None:
        super().__init__(q, lease)
        self._bus = bus

    async def progress(self, text: bytes | str) -> None:
        """As `Task.progress`."""
        if not self.lost:
            await self._bus.run(jobs.update_progress(self._q, self.id, text))

    async def log(self, line: bytes | str, keep: int = KEPT_LINES) -> None:
        """As `Task.log`."""
        await self._bus.run(jobs.add_log(self._q, self.id, as_bytes(line), keep))
