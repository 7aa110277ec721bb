"""Verbs that bring jobs in (protocol part 4.1).

Each answers `duplicate` where the id has a row, in whatever state, and `kind` where it is not a
JOB id; nothing is changed then. Each raises `InvalidError` before anything is sent for an
ill-formed id or lane and for a number out of range. They go on while the queue is paused.
"""

from collections.abc import Iterable

from queue_core import ids
from queue_core.errors import EchoMQError
from queue_core.keys import QueueKeys
from queue_core.names import check_dedup
from queue_core.numbers import delay, instant
from queue_core.outcomes import Word
from queue_core.plans import Batch, Plan
from queue_core.replies import verdicts, word
from queue_core.scripts import script

IN_ONE_SCRIPT = 250
"""Admissions of one script: a ms of the server's time."""

BATCH = 1000
"""Admissions sent in one round trip; more would only grow the buffers on both sides."""

_ENQUEUE = script("enqueue")
_ENQUEUE_MANY = script("enqueue_many")
_ENQUEUE_AT = script("enqueue_at")
_ENQUEUE_IN = script("enqueue_in")
_ENQUEUE_ONCE = script("enqueue_once")
_LANE_ENQUEUE = script("lane_enqueue")
_LANE_ENQUEUE_AT = script("lane_enqueue_at")
_LANE_ENQUEUE_IN = script("lane_enqueue_in")


def enqueue(q: QueueKeys, job_id: bytes | str, payload: bytes) -> Plan[Word]:
    """Admit a job into flat pending, in mint order: `enqueued`."""
    raw = ids.check(job_id)
    return word((yield _ENQUEUE.call((q.row(raw), q.pending), q.base, raw, payload)))


def enqueue_at(q: QueueKeys, job_id: bytes | str, payload: bytes, run_at_ms: int) -> Plan[Word]:
    """Admit a job that waits until `run_at_ms` (Unix ms, the caller's clock; past is due at
    once): `scheduled`."""
    raw = ids.check(job_id)
    keys = (q.row(raw), q.schedule)
    return word((yield _ENQUEUE_AT.call(keys, q.base, raw, payload, instant(run_at_ms))))


def enqueue_in(q: QueueKeys, job_id: bytes | str, payload: bytes, delay_ms: int) -> Plan[Word]:
    """Admit a job that waits `delay_ms` (from 0) on the server's clock: `scheduled`."""
    raw = ids.check(job_id)
    keys = (q.row(raw), q.schedule)
    return word((yield _ENQUEUE_IN.call(keys, q.base, raw, payload, delay(delay_ms))))


def enqueue_once(
    q: QueueKeys,
    dedup: bytes | str,
    ttl_ms: int,
    job_id: bytes | str,
    payload: bytes,
    group: bytes | str | None = None,
    delay_ms: int | None = None,
) -> Plan[tuple[Word, bytes]]:
    """Admit a job, into a lane where `group` names one and after `delay_ms` on the server's clock
    where that is given, unless a job came in under the same `dedup` id within its `ttl_ms`.

    Answers `enqueued` or `scheduled` and the job's id, or `exists` and the id of the job that
    owns the dedup id (this one's where it is a resend); `duplicate` and `kind` as every admission.
    The dedup id (1 to 255 of A-Z a-z 0-9 . _ -) is free again after `ttl_ms`, whatever became of
    its job, or once `remove_job` is told it (part 4.10; part 10, row 23).
    """
    raw, owner = ids.check(job_id), q.dedup(check_dedup(dedup))
    lane_name = b"" if group is None else ids.check(group)
    wait = "" if delay_ms is None else delay(delay_ms)
    args = (q.base, raw, payload, delay(ttl_ms, 1), lane_name, wait)
    reply = yield _ENQUEUE_ONCE.call((q.row(raw), owner), *args)
    return word(reply), reply[1]


def enqueue_many(
    q: QueueKeys, items: Iterable[tuple[bytes | str, bytes]]
) -> Plan[list[Word | EchoMQError]]:
    """Admit many (id, payload), each by itself: the answers in order, a fault in its place.

    Every id is checked before the first is sent. Not atomic: scripts of `IN_ONE_SCRIPT`, and one
    round trip per `BATCH`. No items, no answers (part 10, row 42).
    """
    words: list[bytes] = []
    for job_id, payload in items:
        words += (ids.check(job_id), payload)
    answers: list[Word | EchoMQError] = []
    for start in range(0, len(words), 2 * BATCH):
        parts = [
            words[at : at + 2 * IN_ONE_SCRIPT]
            for at in range(start, min(start + 2 * BATCH, len(words)), 2 * IN_ONE_SCRIPT)
        ]
        calls = [_ENQUEUE_MANY.call((q.pending,), q.base, *part) for part in parts]
        replies = yield Batch(tuple(calls))
        for part, reply in zip(parts, replies, strict=True):
            count = len(part) // 2
            fault = isinstance(reply, EchoMQError)
            answers += [reply] * count if fault else verdicts(reply, count)
    return answers


def lane_enqueue(
    q: QueueKeys, group: bytes | str, job_id: bytes | str, payload: bytes
) -> Plan[Word]:
    """Admit a job into a lane and offer the lane; a parked one is not offered: `enqueued`."""
    lane_name, raw = ids.check(group), ids.check(job_id)
    keys = (q.row(raw), q.lane(lane_name))
    return word((yield _LANE_ENQUEUE.call(keys, q.base, raw, payload, lane_name)))


def lane_enqueue_at(
    q: QueueKeys, group: bytes | str, job_id: bytes | str, payload: bytes, run_at_ms: int
) -> Plan[Word]:
    """Admit a job that enters its lane at `run_at_ms` (Unix ms, the caller's clock):
    `scheduled` (part 10, row 24)."""
    lane_name, raw = ids.check(group), ids.check(job_id)
    args = (q.base, raw, payload, lane_name, instant(run_at_ms))
    return word((yield _LANE_ENQUEUE_AT.call((q.row(raw), q.schedule), *args)))


def lane_enqueue_in(
    q: QueueKeys, group: bytes | str, job_id: bytes | str, payload: bytes, delay_ms: int
) -> Plan[Word]:
    """Admit a job that enters its lane after `delay_ms` (from 0) on the server's clock:
    `scheduled` (part 10, row 24)."""
    lane_name, raw = ids.check(group), ids.check(job_id)
    args = (q.base, raw, payload, lane_name, delay(delay_ms))
    return word((yield _LANE_ENQUEUE_IN.call((q.row(raw), q.schedule), *args)))
