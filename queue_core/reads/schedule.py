"""The schedule in two bounded looks: the fence and the exact list.

Neither grows with the set: the fence reads at most `LATE_MARKS + NEXT_MARKS` rows and counts at
most twice `BARS` ranges, a page reads its rows and seeks its cursor in the logarithm of a tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys
from queue_core.plans import Plan, Reply
from queue_core.reads.glance import Glance, Trace, as_ms, glance, seems_seconds, trace
from queue_core.reads.snapshot import Snapshot
from queue_core.scripts import script

LATE_MARKS = 60
NEXT_MARKS = 180
"""One mark one job, the worst late and the next to run; more could not be told apart."""

BARS = 96
PAGE_SIZE = 50
LATE_ROWS = 10

WHOLE_PAYLOAD = 4_096
"""Payloads up to this many bytes come whole, so that they can be parsed and redacted."""

ERROR_BYTES = 2_048

_FENCE = script("reads/schedule_fence")
_LIST = script("reads/schedule_list")

Scale = Literal["log", "linear"]


Seen = TypeVar("Seen", Glance, Trace)


@dataclass(frozen=True, slots=True)
class Due(Generic[Seen]):
    """A member of the schedule. `score` is its text as the server prints it, which a reschedule
    may expect; `run_at_ms` its moment, None where it is infinite. A mark has a trace of its job,
    a row of the list a glance."""

    member: bytes
    score: str
    job: Seen

    @property
    def run_at_ms(self) -> int | None:
        """The run-at in ms, None for an infinite score."""
        return as_ms(float(self.score))

    @property
    def looks_like_seconds(self) -> bool:
        """Whether somebody wrote seconds where milliseconds belong."""
        return seems_seconds(float(self.score))


@dataclass(frozen=True, slots=True)
class Bar:
    """`count` jobs are due in (from_ms, to_ms]."""

    from_ms: int
    to_ms: int
    count: int


@dataclass(frozen=True, slots=True)
class Fence:
    """The schedule around now. `late_marks` are the worst late in score order, `next_marks` the
    next to run; bars count what the marks leave out, `late_bars` behind now. `oldest_ms` is the
    worst run-at of the last 30 days, None where nothing is late since then. The axis reaches
    `span_ms` ahead; `beyond` jobs lie past it."""

    total: int
    late: int
    oldest_ms: int | None
    span_ms: int
    beyond: int
    late_marks: tuple[Due[Trace], ...]
    next_marks: tuple[Due[Trace], ...]
    late_bars: tuple[Bar, ...]
    bars: tuple[Bar, ...]

    @property
    def next_due_ms(self) -> int | None:
        """When the next job falls due, None where none waits."""
        return self.next_marks[0].run_at_ms if self.next_marks else None


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place between two members in score order: the one beside it, by score and bytes."""

    score: str
    member: bytes


@dataclass(frozen=True, slots=True)
class Listed:
    """A row of the list: the member's rank from 0 in score order, and what it shows."""

    rank: int
    due: Due[Glance]


@dataclass(frozen=True, slots=True)
class DuePage:
    """A page of the exact list. `more_before` and `more_after` say whether rows lie outside."""

    total: int
    late: int
    rows: tuple[Listed, ...]
    more_before: bool
    more_after: bool

    def cursor(self, end: Literal["first", "last"]) -> Cursor | None:
        """The place before the first or after the last row, None on an empty page."""
        if not self.rows:
            return None
        due = self.rows[0 if end == "first" else -1].due
        return Cursor(due.score, due.member)


def _row(raw: Reply) -> Due[Glance]:
    member, score, row = raw
    return Due(member, score.decode("ascii"), glance(row))


def _mark(raw: Reply) -> Due[Trace]:
    member, score, row = raw
    return Due(member, score.decode("ascii"), trace(row))


def _bar(raw: Reply) -> Bar:
    return Bar(int(raw[0]), int(raw[1]), int(raw[2]))


def fence(
    q: QueueKeys,
    span_ms: int,
    scale: Scale = "log",
    late_marks: int = LATE_MARKS,
    next_marks: int = NEXT_MARKS,
    bars: int = BARS,
) -> Plan[Snapshot[Fence]]:
    """Look at the fence as far as `span_ms` ahead; 0 reaches to the last job, at most ten years.

    One round trip; `WrongTypeFault` where the key holds no sorted set.
    """
    reply = yield _FENCE.call((q.schedule,), q.base, span_ms, scale, late_marks, next_marks, bars)
    now, total, late, oldest, span, beyond, worst, coming, behind, ahead = reply
    value = Fence(
        total=total,
        late=late,
        oldest_ms=None if oldest is None else as_ms(float(oldest)),
        span_ms=int(span),
        beyond=beyond,
        late_marks=tuple(map(_mark, worst)),
        next_marks=tuple(map(_mark, coming)),
        late_bars=tuple(map(_bar, behind)),
        bars=tuple(map(_bar, ahead)),
    )
    return Snapshot(value, now)


def page(
    q: QueueKeys,
    where: Literal["fence", "after", "before"] = "fence",
    cursor: Cursor | None = None,
    size: int = PAGE_SIZE,
    late_rows: int = LATE_ROWS,
) -> Plan[Snapshot[DuePage]]:
    """A page in score order: around the fence, or on one side of a cursor. Rows that share a
    score come once each, whatever leaves or joins between two pages. One round trip. Raises
    `InvalidError` for a side without a cursor."""
    if where != "fence" and cursor is None:
        raise InvalidError("a page beside a cursor needs one")
    place = cursor or Cursor("0", b"")
    reply = yield _LIST.call(
        (q.schedule,), q.base, where, place.score, place.member, size, late_rows,
        ERROR_BYTES, WHOLE_PAYLOAD,
    )  # fmt: skip
    now, total, late, _first, jobs, before, after = reply
    rows = tuple(Listed(int(rank), _row(rest)) for rank, *rest in jobs)
    return Snapshot(DuePage(total, late, rows, bool(before), bool(after)), now)
