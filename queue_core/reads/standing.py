"""Where one job stands: its row, its place in each set, and all that decides what comes next.

One round trip of a bounded script, whatever the queue and the row hold: ranks cost a logarithm,
long fields are measured and not read. Any bytes may name a job here; the gate stays on verbs.
"""

from __future__ import annotations

from dataclasses import dataclass

from queue_core.keys import QueueKeys
from queue_core.numbers import digits
from queue_core.plans import Plan, Reply
from queue_core.reads.glance import PREVIEW_LIMIT, as_ms
from queue_core.reads.sample import WORKER_ALIVE_MS
from queue_core.reads.snapshot import Snapshot
from queue_core.reads.window import Holder
from queue_core.scripts import script

FIELD_BYTES = 65_536
"""Fields of more bytes are measured and not read."""

FIELD_NAMES = 64
"""A row of more fields shows only those that the wire knows."""

LOG_LINES = 200
LOG_BYTES = 1_048_576
"""A log that takes more memory than this is counted and not read."""

WHOLE_LIMIT = 16 * 1_048_576
"""A field of more bytes is not read for a person at all."""

_STANDING = script("reads/standing")
_FIELD = script("reads/field")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the row: its size in bytes, its value where that was not too long."""

    size: int
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Place:
    """A member's score as the server prints it, its rank from 0, and how many the set holds."""

    score: str
    rank: int
    total: int

    @property
    def at_ms(self) -> int | None:
        """The score as a moment; None for an infinite one."""
        return as_ms(float(self.score))


@dataclass(frozen=True, slots=True)
class LaneStanding:
    """The lane a job belongs to. `turn` is its place in the ring from 0, None where it is out or
    too far back to look; `ring` the ring's length. Limit and weight None where none is set."""

    name: bytes
    place: Place | None
    turn: int | None
    ring: int | None
    parked: bool | None
    limit: int | None
    in_flight: int
    weight: int | None


@dataclass(frozen=True, slots=True)
class Standing:
    """Everything known of one job at one moment.

    `found` is row, none or the type that stands where a row belongs. `fields` holds what was read
    of `fields_total`. A place is None where the set does not name it. `alive` workers were heard
    of lately and `running` jobs are held, None where that could not be read; `late` jobs of the
    queue are due, `worst_due_ms` is the lowest score of the schedule. `children_left` is the raw
    counter of a flow parent.
    `logs_total` is None where it could not be read, `logs` empty where `logs_bytes` is too much.
    `lock_ms` is what is left of its lock marker, None without one.
    """

    id: bytes
    found: str
    fields: dict[bytes, Field]
    fields_total: int
    pending: Place | None
    active: Place | None
    schedule: Place | None
    dead: Place | None
    lane: LaneStanding | None
    queue_paused: bool
    alive: int | None
    running: int | None
    late: int | None
    worst_due_ms: int | None
    holder: Holder | None
    children_left: bytes | None
    processed: int | None
    failed: int | None
    unsuccessful: int | None
    logs_total: int | None
    logs: tuple[bytes, ...]
    logs_bytes: int | None
    lock_ms: int | None

    def text(self, field: bytes) -> bytes | None:
        """The value of a field; None where it is absent or too long to be read."""
        found = self.fields.get(field)
        return found.value if found else None

    def number(self, field: bytes) -> int | None:
        """A field as a whole number from 0; None where it is absent or says anything else."""
        return digits(self.text(field))

    @property
    def sets(self) -> tuple[str, ...]:
        """The sets that name it, in the order that decides where it is: the wire's, then ours."""
        lane = self.lane.place if self.lane else None
        return tuple(
            name
            for name, place in (
                ("pending", self.pending),
                ("active", self.active),
                ("schedule", self.schedule),
                ("dead", self.dead),
                ("lane", lane),
            )
            if place is not None
        )


def _place(raw: Reply) -> Place | None:
    return Place(raw[0].decode("ascii"), raw[1], raw[2]) if raw else None


def _count(raw: int) -> int | None:
    return raw if raw >= 0 else None


def _lane(raw: Reply) -> LaneStanding | None:
    if not raw:
        return None
    name, place, turn, ring, parked, limit, busy, weight = raw
    return LaneStanding(
        name=name,
        place=_place(place),
        turn=_count(turn),
        ring=_count(ring),
        parked=None if parked < 0 else bool(parked),
        limit=digits(limit),
        in_flight=digits(busy) or 0,
        weight=digits(weight),
    )


def _holder(fields: dict[bytes, Field], heartbeat: bytes | None) -> Holder | None:
    """`py_held` is trusted only while its token is the row's attempts."""
    held, attempts = fields.get(b"py_held"), fields.get(b"attempts")
    if held is None or held.value is None or attempts is None:
        return None
    parts = held.value.rsplit(b":", 2)
    claimed = digits(parts[-1])
    if len(parts) != 3 or parts[1] != attempts.value or claimed is None:
        return None
    return Holder(parts[0], claimed, as_ms(float(heartbeat)) if heartbeat is not None else None)


def _row(raw: Reply) -> tuple[str, dict[bytes, Field], int]:
    if not raw:
        return "none", {}, 0
    if isinstance(raw, bytes):
        return raw.decode("ascii", "replace"), {}, 0
    read, total = raw
    return "row", {name: Field(size, value) for name, size, value in read}, total


def _standing(job_id: bytes, reply: Reply) -> Standing:
    _now, row, places, lane, queue, flow, logs, lock = reply
    found, fields, total = _row(row)
    paused, alive, late, worst, running, heartbeat = queue
    return Standing(
        id=job_id,
        found=found,
        fields=fields,
        fields_total=total,
        pending=_place(places[0]),
        active=_place(places[1]),
        schedule=_place(places[2]),
        dead=_place(places[3]),
        lane=_lane(lane),
        queue_paused=paused is not None,
        alive=_count(alive),
        running=_count(running),
        late=_count(late),
        worst_due_ms=as_ms(float(worst)) if worst is not None else None,
        holder=_holder(fields, heartbeat),
        children_left=flow[0],
        processed=_count(flow[1]),
        failed=_count(flow[2]),
        unsuccessful=_count(flow[3]),
        logs_total=_count(logs[0]),
        logs=tuple(logs[1]),
        logs_bytes=_count(logs[2]),
        lock_ms=lock if lock is not None and lock > 0 else None,
    )


def standing(q: QueueKeys, job_id: bytes, lane: bytes = b"") -> Plan[Snapshot[Standing]]:
    """All about one job in one round trip. `lane` is where to look for a job whose row is gone or
    names no group. Payload and fields of more than 64 KiB are measured only."""
    reply = yield _STANDING.call(
        (
            q.row(job_id), q.logs(job_id), q.lock(job_id), q.dependencies(job_id),
            q.pending, q.active, q.schedule, q.dead,
            q.ring, q.paused, q.glimit, q.gactive, q.gweight, q.meta, q.workers,
        ),
        q.base, job_id, lane, PREVIEW_LIMIT, FIELD_BYTES, FIELD_NAMES, LOG_LINES, LOG_BYTES,
        WORKER_ALIVE_MS,
    )  # fmt: skip
    return Snapshot(_standing(job_id, reply), reply[0])


def whole(
    q: QueueKeys, job_id: bytes, field: bytes = b"payload", most: int = WHOLE_LIMIT
) -> Plan[Snapshot[Field]]:
    """One field of a row in full. `value` is None where it is absent or longer than `most`;
    `complete` is False in the second case."""
    now, size, value = yield _FIELD.call((q.row(job_id),), field, most)
    cut = value is None and size > 0
    why = f"{size:,} bytes are more than {most:,}." if cut else ""
    return Snapshot(Field(size, value), now, complete=not cut, why=why)
