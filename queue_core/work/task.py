"""A claimed job as its handler sees it."""

from __future__ import annotations

from typing import Protocol, TypeVar

from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.plans import Plan
from queue_core.verbs import jobs

T = TypeVar("T")


class Runs(Protocol):
    """A blocking bus: whatever runs plans."""

    def run(self, plan: Plan[T]) -> T:
        """The plan's result."""


class Task:
    """One attempt at one job. `attempts` counts this one too; `group` is its lane, if any.

    `lost` turns true when the lease was taken over or the job removed while the handler ran:
    whatever it does further counts for nothing.
    """

    def __init__(self, bus: Runs, q: QueueKeys, lease: Lease) -> None:
        self._bus = bus
        self._q = q
        self.lease = lease
        self.lost = False

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
        """The lane it came from."""
        return self.lease.group

    @property
    def queue(self) -> bytes:
        """The queue's name."""
        return self._q.name

    def progress(self, text: bytes | str) -> None:
        """Say how far it is; shown in consoles and published."""
        self._bus.run(jobs.update_progress(self._q, self.id, text))

    def log(self, line: bytes | str, keep: int = 200) -> None:
        """Write a line into the job's log, which keeps its last `keep` lines."""
        raw = line.encode() if isinstance(line, str) else line
        self._bus.run(jobs.add_log(self._q, self.id, raw, keep))
