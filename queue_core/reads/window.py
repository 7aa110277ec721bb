"""A page of pending, of one lane, of active or of the dead, in the order of the store.

One round trip, at most `PAGE_SIZE` rows; a cursor names the member beside the page, so that
nobody is skipped or shown twice while the set moves. Cost: the rows, and the logarithm of the
set for the cursor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from queue_core.keys import QueueKeys
from queue_core.plans import Plan, Reply
from queue_core.reads.glance import Glance, as_ms, glance
from queue_core.reads.schedule import Cursor
from queue_core.reads.snapshot import Snapshot
from queue_core.scripts import script

PAGE_SIZE = 25
"""Rows of a page: drawn with their buttons they fit one frame of a socket."""

WHOLE_PAYLOAD = 4_096
"""Payloads up to this many bytes come whole, so that they can be parsed and redacted; of longer
ones a list has only this beginning, and of those over 64 KiB only the length."""

ERROR_BYTES = 2_048

_WINDOW = script("reads/window")

Side = Literal["first", "after", "before"]


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds an active job, of our own claims: trusted only while its token is attempts.

    `since_ms` is when the claim was taken, `heard_ms` the worker's last heartbeat, None where it
    is in the registry no more.
    """

    worker: bytes
    since_ms: int
    heard_ms: int | None


@dataclass(frozen=True, slots=True)
class Member:
    """One row of a page. `rank` counts from 0 in the shown order; `score` is the server's text."""

    rank: int
    member: bytes
    score: str
    job: Glance
    holder: Holder | None

    @property
    def at_ms(self) -> int | None:
        """The score as a moment: of active, when the lease ends. None for an infinite one."""
        return as_ms(float(self.score))


@dataclass(frozen=True, slots=True)
class Window:
    """A page: `total` members are in the set, `rows` from `first` on are here. `paused` says
    whether the queue is."""

    total: int
    first: int
    rows: tuple[Member, ...]
    paused: bool

    @property
    def more_before(self) -> bool:
        """Whether rows stand before this page."""
        return self.first > 0

    @property
    def more_after(self) -> bool:
        """Whether rows stand behind it."""
        return self.first + len(self.rows) < self.total

    def cursor(self, end: Literal["first", "last"]) -> Cursor | None:
        """The place beside the first or the last row, None on an empty page."""
        if not self.rows:
            return None
        row = self.rows[0 if end == "first" else -1]
        return Cursor(row.score, row.member)


def held_by(job: Glance, heartbeat: bytes | None) -> Holder | None:
    """Who holds it by `py_held`; None where nobody wrote one or another claim came since."""
    since = job.claimed_ms
    if since is None or job.held is None:
        return None
    heard = as_ms(float(heartbeat)) if heartbeat is not None else None
    return Holder(job.held.rsplit(b":", 2)[0], since, heard)


def _member(rank: int, raw: Reply) -> Member:
    member, score, row, heartbeat = raw
    job = glance(row)
    return Member(rank, member, score.decode("ascii"), job, held_by(job, heartbeat))


def _page(
    q: QueueKeys, members: bytes, newest: bool, side: Side, cursor: Cursor | None, size: int
) -> Plan[Snapshot[Window]]:
    beside = cursor or Cursor("0", b"")
    now, total, first, raw, paused = yield _WINDOW.call(
        (members, q.meta, q.workers),
        q.base,
        side if cursor else "first",
        int(newest),
        beside.score,
        beside.member,
        size,
        ERROR_BYTES,
        WHOLE_PAYLOAD,
    )
    rows = tuple(_member(first + at, one) for at, one in enumerate(raw))
    return Snapshot(Window(total, first, rows, bool(paused)), now)


def pending(
    q: QueueKeys, side: Side = "first", cursor: Cursor | None = None, size: int = PAGE_SIZE
) -> Plan[Snapshot[Window]]:
    """Flat pending in claim order: rank 0 is what the next claim takes."""
    return _page(q, q.pending, False, side, cursor, size)


def lane(
    q: QueueKeys,
    group: bytes,
    side: Side = "first",
    cursor: Cursor | None = None,
    size: int = PAGE_SIZE,
) -> Plan[Snapshot[Window]]:
    """The jobs that wait in one lane, in claim order."""
    return _page(q, q.lane(group), False, side, cursor, size)


def active(
    q: QueueKeys, side: Side = "first", cursor: Cursor | None = None, size: int = PAGE_SIZE
) -> Plan[Snapshot[Window]]:
    """Held jobs, the lease that ends first (or ended longest ago) on top."""
    return _page(q, q.active, False, side, cursor, size)


def dead(
    q: QueueKeys, side: Side = "first", cursor: Cursor | None = None, size: int = PAGE_SIZE
) -> Plan[Snapshot[Window]]:
    """The dead, newest mint first by the bytes of the id, as upstream browses them."""
    return _page(q, q.dead, True, side, cursor, size)
