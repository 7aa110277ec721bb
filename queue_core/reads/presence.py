"""Who works on a queue, by the presence that each worker writes of itself.

Workers of the Elixir bus write none, so nobody here proves nothing about them.
"""

from __future__ import annotations

from dataclasses import dataclass

from queue_core.keys import QueueKeys
from queue_core.plans import Plan, Reply
from queue_core.reads.glance import as_ms
from queue_core.reads.sample import WORKER_ALIVE_MS
from queue_core.reads.snapshot import Snapshot
from queue_core.replies import pairs
from queue_core.scripts import script

WORKER_WINDOW = 200
"""Workers read in one look; the last heard of come first."""

VALUE_BYTES = 4_096

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
        raw = self.said.get(field)
        return int(raw) if raw is not None and raw.isdigit() else None

    def stale(self, now_ms: int) -> bool:
        """Whether it was heard of too long ago to count as working."""
        return self.heard_ms is None or now_ms - self.heard_ms > WORKER_ALIVE_MS


@dataclass(frozen=True, slots=True)
class Crew:
    """The workers of a queue: `total` in the registry, `alive` heard of lately, `workers` read."""

    total: int
    alive: int
    workers: tuple[Presence, ...]
    queue_paused: bool


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
