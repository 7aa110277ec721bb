"""Jobs that wait for another try, for the backoff page.

The wire does not record when a try failed, so the wait a job was given is known only between
two bounds: what is left of it now, and the time since the claim that failed where our own claim
wrote it (`py_held`).
"""

from __future__ import annotations

from dataclasses import dataclass

from queue_core.keys import QueueKeys
from queue_core.plans import Plan
from queue_core.reads.glance import Glance, as_ms, glance
from queue_core.reads.snapshot import Snapshot
from queue_core.scripts import script

MOST = 300
"""Members of the schedule looked at: retries wait short, so the next to run hold nearly all."""

_RETRIES = script("reads/retries")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job whose try number `failures` failed. It runs `left_ms` after the read; it was given
    at least that, and at most `most_ms` where its claim is known, else None."""

    member: bytes
    score: str
    job: Glance
    failures: int
    left_ms: int
    most_ms: int | None


@dataclass(frozen=True, slots=True)
class Retries:
    """Of `total` scheduled jobs, `late` of them due, the next `looked` were read."""

    total: int
    late: int
    looked: int
    waiting: tuple[Waiting, ...]


def retries(q: QueueKeys, most: int = MOST) -> Plan[Snapshot[Retries]]:
    """Retries among the next `most` jobs to run. One round trip."""
    now, total, late, looked, jobs = yield _RETRIES.call((q.schedule,), q.base, most)
    waiting = []
    for member, score, row in jobs:
        job, run_at = glance(row), as_ms(float(score))
        if job.tries is None or run_at is None:
            continue
        claimed = job.claimed_ms
        top = None if claimed is None else run_at - claimed
        waiting.append(Waiting(member, score.decode("ascii"), job, job.tries, run_at - now, top))
    looked = int(looked)
    whole = late + looked >= total
    why = "" if whole else f"Only the next {looked} of {total - late} waiting jobs were read."
    return Snapshot(Retries(total, late, looked, tuple(waiting)), now, whole, why)
