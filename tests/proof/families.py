"""The flows of the pure model: what a child's end does to its parent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.proof.model import Job


@dataclass
class Hashes:
    """What hangs on ids of a flow and outlives their rows."""

    dependencies: dict[bytes, int] = field(default_factory=dict)
    processed: dict[bytes, dict[bytes, bytes]] = field(default_factory=dict)
    failed: dict[bytes, dict[bytes, bytes]] = field(default_factory=dict)
    unsuccessful: dict[bytes, dict[bytes, bytes]] = field(default_factory=dict)

    def forget(self, job_id: bytes) -> None:
        """All that hangs on one id."""
        for of in (self.dependencies, self.processed, self.failed, self.unsuccessful):
            of.pop(job_id, None)


class Families(ABC):
    """What a queue keeps of flows. It is part of a `Queue`, which has the jobs."""

    name: bytes
    jobs: dict[bytes, Job]

    def __init__(self) -> None:
        self.flows = Hashes()
        self.outbox: list[bytes] = []

    @abstractmethod
    def wait(self, job: Job) -> None:
        """Let a job wait for a claim."""

    def child_done(self, job: Job, result: bytes) -> None:
        """Tell the parent, at once or through the outbox."""
        parent, elsewhere = job.row.get(b"parent"), job.row.get(b"parent_queue")
        if parent and elsewhere:
            self.outbox.append(b"\0".join((elsewhere, parent, job.id, result)))
        elif parent:
            self.fan_in(parent, job.id, result)

    def fan_in(self, parent: bytes, child: bytes, result: bytes) -> None:
        """A child is done: counted once, and the last one releases its parent."""
        if parent not in self.jobs:
            return
        told = self.flows.processed.setdefault(parent, {})
        if child in told:
            return
        told[child] = result
        if child not in self.flows.unsuccessful.get(parent, {}):
            self._count_down(parent)

    def _count_down(self, parent: bytes) -> None:
        left = self.flows.dependencies[parent] = self.flows.dependencies.get(parent, 0) - 1
        if left <= 0 and self.jobs[parent].place == "held":
            self.wait(self.jobs[parent])

    def child_died(self, job: Job, error: bytes) -> None:
        """Tell the parent of a death."""
        parent, elsewhere = job.row.get(b"parent"), job.row.get(b"parent_queue")
        policy = job.row.get(b"parent_policy", b"fp")
        if parent and elsewhere:
            self._report(elsewhere, parent, job.id, policy, error)
        elif parent:
            self.fail_parent(parent, job.id, policy, error)
            self.climb(parent, error)

    def fail_parent(self, parent: bytes, child: bytes, policy: bytes, error: bytes) -> None:
        """A child is dead: its parent too, or it is counted as done."""
        job = self.jobs.get(parent)
        if job is None or job.group:
            return
        if policy == b"id":
            told = self.flows.unsuccessful.setdefault(parent, {})
            fresh = child not in told
            told[child] = error
            if fresh and child not in self.flows.processed.get(parent, {}):
                self._count_down(parent)
            return
        self.flows.failed.setdefault(parent, {})[child] = error
        if job.place in ("held", "pending", "dead"):
            job.place, job.score = "dead", 0

    def climb(self, parent: bytes, error: bytes) -> None:
        """A dead parent tells its own parent through the outbox."""
        job = self.jobs.get(parent)
        if job and job.place == "dead" and b"parent" in job.row:
            home = job.row.get(b"parent_queue", self.name)
            policy = job.row.get(b"parent_policy", b"fp")
            self._report(home, job.row[b"parent"], job.id, policy, error)

    def _report(self, *words: bytes) -> None:
        self.outbox.append(b"\0fail\0" + b"\0".join(words))

    def deliver_death(self, parent: bytes, child: bytes, policy: bytes, error: bytes) -> None:
        """An outbox entry of a death arrives; told twice it counts once."""
        told = self.flows.unsuccessful if policy == b"id" else self.flows.failed
        if child in told.get(parent, {}):
            return
        was_dead = parent in self.jobs and self.jobs[parent].place == "dead"
        self.fail_parent(parent, child, policy, error)
        if not was_dead:
            self.climb(parent, error)
