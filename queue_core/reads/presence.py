"""Who works on a queue, by the presence that each worker writes of itself.

Workers of the Elixir bus write none, so nobody here proves nothing about them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from queue_core.keys import QueueKeys
from queue_core.numbers import digits
from queue_core.plans import Plan, Reply
from queue_core.reads.glance import as_ms
from queue_core.reads.sample import WORKER_ALIVE_MS
from queue_core.reads.snapshot import Snapshot
from queue_core.replies import pairs
from queue_core.scripts import script

WORKER_WINDOW = 200
"""Workers read in one look; the last heard of come first."""

VALUE_BYTES = 4_096

ENOUGH = 20
"""Fewer samples make no percentile."""

_WORKERS = script("reads/workers")


@dataclass(frozen=True, slots=True)
class Presence:
    """One worker: `heard_ms` its last heartbeat (None for an infinite score), `said` the fields
    of its hash, empty once that has expired."""

    id: bytes
    heard_ms: int | None
    said: dict[bytes, bytes]

    def number(self, field: bytes) -> int | None:
        """A field as a whole number; None where it is absent or none."""
        return digits(self.said.get(field))

    @property
    def host(self) -> bytes | None:
        """The machine it runs on."""
        return self.said.get(b"host")

    @property
    def version(self) -> bytes | None:
        """The version of the engine it runs."""
        return self.said.get(b"version")

    @property
    def pid(self) -> int | None:
        """Its process there."""
        return self.number(b"pid")

    @property
    def concurrency(self) -> int | None:
        """How many jobs it may hold at once."""
        return self.number(b"concurrency")

    @property
    def in_hand(self) -> int | None:
        """How many it holds."""
        return self.number(b"in_hand")

    @property
    def quiet(self) -> bool:
        """Whether it claims nothing more."""
        return self.said.get(b"quiet") == b"1"

    def stale(self, now_ms: int) -> bool:
        """Whether it was heard of too long ago to count as working."""
        return self.heard_ms is None or now_ms - self.heard_ms > WORKER_ALIVE_MS

    def histogram(self, name: str) -> Counter[int]:
        """Its cumulative counts of `wait` or `run`: by k, how many took at most 2**k ms and more
        than half of that."""
        found: Counter[int] = Counter()
        prefix = f"{name}:".encode()
        for field, raw in self.said.items():
            bucket = field.removeprefix(prefix)
            if bucket != field and bucket.isdigit() and len(bucket) < 3:
                found[int(bucket)] += digits(raw) or 0
        return found


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Spans in ms below which half, nineteen of twenty and 99 of 100 samples lie: each the upper
    edge of its bucket, so true within a factor of two. None where `samples` are too few."""

    samples: int
    p50: int | None
    p95: int | None
    p99: int | None


@dataclass(frozen=True, slots=True)
class Crew:
    """The workers of a queue: `total` in the registry, `alive` heard of lately, `workers` read."""

    total: int
    alive: int
    workers: tuple[Presence, ...]
    queue_paused: bool

    def percentiles(self, name: str) -> Percentiles:
        """Of `wait` or `run`, over what the workers that still speak have counted since they
        began."""
        counts: Counter[int] = sum((one.histogram(name) for one in self.workers), Counter())
        return percentiles(counts)


def percentiles(counts: Counter[int]) -> Percentiles:
    """The percentiles of a histogram in powers of two."""
    total = sum(counts.values())
    if total < ENOUGH:
        return Percentiles(total, None, None, None)

    def below(part: float) -> int:
        seen = 0
        for bucket in sorted(counts):
            seen += counts[bucket]
            if seen >= part * total:
                return 1 << bucket
        raise AssertionError(counts)

    return Percentiles(total, below(0.5), below(0.95), below(0.99))


def _presence(raw: Reply) -> Presence:
    worker, heard, _ttl, said = raw
    return Presence(worker, as_ms(float(heard)), pairs(said))


def workers(q: QueueKeys, size: int = WORKER_WINDOW) -> Plan[Snapshot[Crew]]:
    """The workers of a queue in one round trip, the last heard of first."""
    now, total, alive, raw, paused = yield _WORKERS.call(
        (q.workers, q.meta), q.base, WORKER_ALIVE_MS, size, VALUE_BYTES
    )
    crew = Crew(total, alive, tuple(map(_presence, raw)), bool(paused))
    whole = total <= len(crew.workers)
    why = "" if whole else f"The {len(crew.workers)} last heard of, of {total}."
    return Snapshot(crew, now, complete=whole, why=why)
