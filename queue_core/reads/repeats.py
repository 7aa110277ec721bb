"""The repeat registry: cadences, next runs and the last runs our own pump wrote down."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise

from queue_core.keys import QueueKeys
from queue_core.numbers import digits
from queue_core.plans import Call, Plan, Reply
from queue_core.reads.glance import as_ms, seems_seconds
from queue_core.reads.sample import PARKED_SCORE
from queue_core.reads.schedule import Cursor
from queue_core.reads.snapshot import Snapshot
from queue_core.scripts import script

PAGE_SIZE = 50
RUNS = 12
SCAN_PAGE = 500
"""Keys walked by one step of the search for records without a run: some 0.2 ms."""

_REPEATS = script("reads/repeats")
_RECORDS = script("reads/repeat_records")
_CADENCE = re.compile(rb"[1-9][0-9]{0,14}")


@dataclass(frozen=True, slots=True)
class Run:
    """One run: when it was due, when it was fired (ms) and the job's id. `due_ms` is None for a
    run that an operator asked for."""

    due_ms: int | None
    fired_ms: int
    job_id: bytes

    @property
    def drift_ms(self) -> int | None:
        """How long after its time it was fired."""
        return None if self.due_ms is None else self.fired_ms - self.due_ms


@dataclass(frozen=True, slots=True)
class Repeat:
    """A registration. `found` is record, absent (armed, but nothing says what to run) or
    wrongtype. `score` is the next run as the server prints it. `every` is the cadence as it is
    written, `every_ms` the same where it is a whole number of ms from 1 on, else None.
    `runs` are the last of them, the newest first, empty where nobody of ours fired it."""

    name: bytes
    score: str
    found: str
    every: bytes | None
    paused_at_ms: int | None
    paused_by: bytes | None
    resumes_at_ms: int | None
    template_size: int
    template_head: bytes
    runs: tuple[Run, ...]

    @property
    def every_ms(self) -> int | None:
        """The cadence in ms, None where the pump could not take what is written for one."""
        written = self.every
        return int(written) if written is not None and _CADENCE.fullmatch(written) else None

    @property
    def parked(self) -> bool:
        """Whether it stands where a pause of ours parks it: beyond every date."""
        return float(self.score) >= PARKED_SCORE

    @property
    def next_ms(self) -> int | None:
        """When it runs next; None while parked or where the score is no moment."""
        return None if self.parked else as_ms(float(self.score))

    @property
    def looks_like_seconds(self) -> bool:
        """Whether the next run looks like seconds written as ms."""
        return seems_seconds(float(self.score))

    @property
    def doubled(self) -> frozenset[int]:
        """Run times that were fired more than once."""
        due = self._slots
        return frozenset(moment for moment in due if due.count(moment) > 1)

    @property
    def _slots(self) -> list[int]:
        return [run.due_ms for run in self.runs if run.due_ms is not None]

    @property
    def missed(self) -> int | None:
        """Periods passed over between the runs that are known; None where none are."""
        every, slots = self.every_ms, sorted(self._slots)
        if every is None or len(slots) < 2:
            return None
        return sum(max(0, round((new - old) / every) - 1) for old, new in pairwise(slots))


@dataclass(frozen=True, slots=True)
class Registry:
    """A page of the registry in order of the next run; `first_rank` counts from 0."""

    total: int
    first_rank: int
    repeats: tuple[Repeat, ...]

    @property
    def more_after(self) -> bool:
        """Whether there are registrations behind this page."""
        return self.first_rank + len(self.repeats) < self.total


@dataclass(frozen=True, slots=True)
class Unarmed:
    """One step of a scan: where to go on (b"0" when a pass is over), and records it met that no
    member of the registry names."""

    cursor: bytes
    names: tuple[bytes, ...]


def _moment(raw: bytes | None) -> int | None:
    if raw is None:
        return None
    try:
        value = float(raw)
    except ValueError:
        return None
    return int(value) if math.isfinite(value) else None


def _run(raw: bytes) -> Run | None:
    """A run as `lua/parts/repeat_admit.lua` notes it; None for a line that is none."""
    due, _, rest = raw.partition(b" ")
    fired, _, job_id = rest.partition(b" ")
    at = _moment(due)
    fired_ms = digits(fired)
    if fired_ms is None or not job_id or (at is None and due != b"-"):
        return None
    return Run(at, fired_ms, job_id)


def _repeat(raw: Reply) -> Repeat:
    name, score, found, every, paused_at, paused_by, resumes, size, head, runs = raw
    return Repeat(
        name=name,
        score=score.decode("ascii"),
        found=found.decode("ascii"),
        every=every,
        paused_at_ms=_moment(paused_at),
        paused_by=paused_by,
        resumes_at_ms=_moment(resumes),
        template_size=int(size),
        template_head=head,
        runs=tuple(run for run in map(_run, runs) if run is not None),
    )


def registry(
    q: QueueKeys, after: Cursor | None = None, size: int = PAGE_SIZE, runs: int = RUNS
) -> Plan[Snapshot[Registry]]:
    """A page of registrations with the last `runs` runs of each. One round trip."""
    place = after or Cursor("0", b"")
    reply = yield _REPEATS.call((q.repeat,), q.base, place.score, place.member, size, runs)
    now, total, first, records = reply
    return Snapshot(Registry(total, int(first), tuple(map(_repeat, records))), now)


def recorded(q: QueueKeys, name: bytes) -> Plan[bool]:
    """Whether a repeat has a record, be it one that says what to run or not. One command."""
    return bool((yield Call("EXISTS", (q.repeat_record(name),))))


def unarmed(q: QueueKeys, cursor: bytes = b"0", page: int = SCAN_PAGE) -> Plan[Unarmed]:
    """Walk on through the bus from `cursor`, looking for records that nothing will run."""
    reply = yield _RECORDS.call((q.repeat,), q.base, cursor, page)
    return Unarmed(reply[0], tuple(reply[1:]))
