"""One bounded look at a queue: counts, lanes, lateness, workers, what comes next.

The cost is bounded by `LANE_WINDOW` and the number of edges, never by the queue, so a sample a
tick is safe whatever the queue holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from queue_core import ids
from queue_core.keys import QueueKeys
from queue_core.plans import Plan, Reply
from queue_core.reads.glance import as_ms
from queue_core.reads.snapshot import Snapshot
from queue_core.replies import refused
from queue_core.scripts import script

LANE_WINDOW = 128
"""Lanes looked at of each of ring, parked, limited and busy: about a ms of script for each."""

WORKER_ALIVE_MS = 10_000
"""A worker whose last heartbeat is older counts as gone: two beats of four seconds missed, and two
seconds of grace."""

SILENT_MS = 600_000
"""How long a worker that fell silent is counted as missing beside those that still speak; after
that it was most likely replaced, under another name."""

FORGOTTEN_MS = 86_400_000
"""After this the registry drops a worker at the next heartbeat of another; we look no further."""

PARKED_SCORE = 9_007_199_254_740_991
"""Where a paused repeat of ours is parked: beyond every date."""

FENCE_EDGES_MS = (
    -3_600_000, -300_000, -60_000, -10_000, 0,
    1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000,
    10_800_000, 43_200_000, 86_400_000, 604_800_000,
)  # fmt: skip
"""Edges of the fence in miniature, ms from now: five buckets late, twelve ahead."""

LATE_BUCKETS = FENCE_EDGES_MS.index(0) + 1

_SAMPLE = script("reads/sample")


@dataclass(frozen=True, slots=True)
class Fault:
    """A part of a read that the server refused: the command, the key's last part, `kind` as
    forbidden | wrong-type | other, and the server's words."""

    command: str
    part: str
    kind: str
    text: str

    @property
    def sentence(self) -> str:
        """What is missing, in words."""
        if self.kind == "forbidden":
            return f"The server's access list refuses {self.command} on {self.part}."
        if self.kind == "wrong-type":
            return f"The key {self.part} holds another type than the wire says."
        return f"{self.command} on {self.part} failed: {self.text}"


@dataclass(frozen=True, slots=True)
class Sample:
    """What one look saw. A number is None where it could not be read, never zero.

    `in_lanes` jobs wait in `lanes` lanes, `lanes_at_limit` are at their ceiling; all three are
    lower bounds while `lanes_complete` is False. `oldest_ms` is when the oldest waiting job was
    minted (Unix ms), None where nothing waits or its id tells no time. `late` jobs are due,
    `worst_due` is the lowest score. `fence` counts the schedule by `FENCE_EDGES_MS`.
    `next_repeat` is `(name, due ms)`. `workers` are those heard of within `WORKER_ALIVE_MS`,
    `silent` those that fell silent within `SILENT_MS`; `last_heard_ms` is the last heartbeat of the
    silent, None where every worker of the last `FORGOTTEN_MS` speaks.
    `refused` are the writing commands that our login may not use on the queue.
    """

    pending: int | None
    active: int | None
    schedule: int | None
    dead: int | None
    completed: int | None
    failed: int | None
    in_lanes: int | None
    lanes: int | None
    lanes_at_limit: int | None
    lanes_complete: bool
    ring: int | None
    paused: bool | None
    concurrency: bytes | None
    max: bytes | None
    pending_head: bytes | None
    lane_head: bytes | None
    oldest_ms: int | None
    late: int | None
    worst_due: float | None
    next_due: float | None
    fence: tuple[int, ...]
    repeats: int | None
    next_repeat: tuple[bytes, float] | None
    workers: int | None
    silent: int | None
    last_heard_ms: int | None
    faults: tuple[Fault, ...]
    refused: tuple[str, ...]

    @property
    def waiting(self) -> int | None:
        """Flat pending and lanes together; None while either is unknown."""
        if self.pending is None or self.in_lanes is None:
            return None
        return self.pending + self.in_lanes

    @property
    def empty(self) -> bool:
        """Whether nothing of the queue was found: no job, setting, counter, repeat or worker."""
        numbers = (
            self.pending, self.active, self.schedule, self.dead, self.completed, self.failed,
            self.in_lanes, self.lanes, self.repeats, self.workers, self.last_heard_ms,
        )  # fmt: skip
        return not (any(numbers) or self.faults or self.paused or self.concurrency or self.max)

    @property
    def held(self) -> int | None:
        """Every job the queue holds; None where a part is unknown or a lower bound."""
        parts = (self.waiting, self.active, self.schedule, self.dead)
        if not self.lanes_complete or any(part is None for part in parts):
            return None
        return sum(part for part in parts if part is not None)


def fault(raw: Reply) -> Fault:
    """A fault triple of a read script."""
    command, part, text = (word.decode("utf-8", "replace") for word in raw)
    if "WRONGTYPE" in text:
        return Fault(command, part, "wrong-type", text)
    if refused(text):
        return Fault(command, part, "forbidden", text)
    return Fault(command, part, "other", text)


def _counter(raw: Reply) -> int | None:
    """A metric's count: absent is zero, unreadable or no number is None."""
    if raw is None:
        return None
    try:
        return int(raw[0]) if raw[0] is not None else 0
    except ValueError:
        return None


def _minted(job_id: bytes | None) -> int | None:
    return ids.decode(job_id).unix_ms if job_id is not None and ids.is_id(job_id) else None


def _oldest(*heads: bytes | None) -> int | None:
    minted = [ms for ms in map(_minted, heads) if ms is not None]
    return min(minted, default=None)


def _fence(under: Reply, total: int | None) -> tuple[int, ...]:
    if total is None or not under or any(not isinstance(n, int) for n in under):
        return ()
    rising = [0, *under, total]
    # By way of a list: a tuple that grows as it is made leaves one more behind in CPython's free
    # lists each time, some 700 KB of a process that looks twice a second.
    return tuple([max(0, high - low) for low, high in pairwise(rising)])


def _next_repeat(head: Reply) -> tuple[bytes, float] | None:
    if not head or float(head[1]) >= PARKED_SCORE:
        return None
    return head[0], float(head[1])


def _read(reply: Reply) -> Snapshot[Sample]:
    now, faults, counts, meta, head, due, lanes, repeats, workers, refused = reply
    pending, active, schedule, dead = counts[:4]
    late, _first, worst, coming, under = due or (0 if schedule == 0 else None, None, None, None, ())
    jobs, waiting, at_limit, lane_head, whole, ring = lanes
    unread = {one.part for one in map(fault, faults)}
    lanes_known = not unread & {"ring", "paused", "glimit", "gactive", "lane"}
    sample = Sample(
        pending=pending,
        active=active,
        schedule=schedule,
        dead=dead,
        completed=_counter(counts[4]),
        failed=_counter(counts[5]),
        in_lanes=jobs if lanes_known or jobs else None,
        lanes=max(waiting, 0 if whole else ring or 0) if lanes_known or jobs else None,
        lanes_at_limit=at_limit if lanes_known or jobs else None,
        lanes_complete=bool(whole),
        ring=ring,
        paused=None if meta is None else meta[0] is not None,
        concurrency=None if meta is None else meta[1],
        max=None if meta is None else meta[2],
        pending_head=head,
        lane_head=lane_head,
        oldest_ms=_oldest(head, lane_head),
        late=late,
        worst_due=None if worst is None else float(worst),
        next_due=None if coming is None else float(coming),
        fence=_fence(under, schedule),
        repeats=repeats[0],
        next_repeat=_next_repeat(repeats[1]),
        workers=workers[1],
        silent=workers[2],
        last_heard_ms=None if workers[3] is None else as_ms(float(workers[3])),
        faults=tuple(dict.fromkeys(map(fault, faults))),
        refused=tuple(name.decode("ascii") for name in refused),
    )
    why = sample.faults[0].sentence if sample.faults else ""
    if not whole and not why:
        why = f"Only the first {LANE_WINDOW} lanes of each kind were read."
    return Snapshot(sample, now, complete=bool(whole) and not faults, why=why)


def sample(q: QueueKeys, window: int = LANE_WINDOW) -> Plan[Snapshot[Sample]]:
    """Look at one queue in one round trip. Parts that the server refuses are None in the value
    and named in `faults`; a queue that holds nothing is all zeros."""
    reply = yield _SAMPLE.call(
        (
            q.pending, q.active, q.schedule, q.dead, q.ring, q.paused, q.glimit, q.gactive,
            q.meta, q.metrics_completed, q.metrics_failed, q.repeat, q.workers,
        ),
        q.base,
        window,
        WORKER_ALIVE_MS,
        SILENT_MS,
        FORGOTTEN_MS,
        *FENCE_EDGES_MS,
    )  # fmt: skip
    return _read(reply)
