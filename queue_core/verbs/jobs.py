"""Verbs on one job, by whoever may (protocol part 4.5), and ours on scheduled jobs.

Verbs that take a `job_id` raise `InvalidError` for an ill-formed one before anything is sent.
Those that take a `member` work on whatever bytes stand in the set.
"""

import hashlib
from typing import Literal

from queue_core import ids
from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys
from queue_core.names import as_bytes
from queue_core.numbers import instant, whole
from queue_core.outcomes import Word
from queue_core.plans import Call, Plan
from queue_core.replies import word
from queue_core.scripts import script

MOST_LINES = 1000
"""Log lines that one read answers."""

_UPDATE_DATA = script("update_data")
_UPDATE_PROGRESS = script("update_progress")
_ADD_LOG = script("add_log")
_REMOVE_JOB = script("remove_job")
_REMOVE_MEMBER = script("remove_member")
_REPROCESS_JOB = script("reprocess_job")
_RESCHEDULE = script("reschedule")
_RUN_NOW = script("run_now")
_JOB_LOGS = script("reads/job_logs")
_DEDUP_JOB_ID = script("reads/dedup_job_id")


def digest(payload: bytes) -> str:
    """What `update_data` expects of a payload that was seen: its SHA-1 in hex."""
    return hashlib.sha1(payload, usedforsecurity=False).hexdigest()


def update_data(
    q: QueueKeys, job_id: bytes | str, payload: bytes, expected_digest: str = ""
) -> Plan[Word]:
    """Replace the payload, in whatever state the job is: `ok` or `gone`. With the `digest` of the
    payload that was seen also `noop`, where it is the new one already, `moved`, where it is another
    by now, or `invalid`, where it is over 1 MiB and not compared."""
    raw = ids.check(job_id)
    args = (q.base, raw, payload, expected_digest)
    return word((yield _UPDATE_DATA.call((q.row(raw),), *args)))


def update_progress(q: QueueKeys, job_id: bytes | str, progress: bytes | str) -> Plan[Word]:
    """Note how far the job is and publish it to the queue's events: `ok` or `gone`."""
    raw = ids.check(job_id)
    return word((yield _UPDATE_PROGRESS.call((q.row(raw),), q.base, raw, as_bytes(progress))))


def add_log(
    q: QueueKeys, job_id: bytes | str, line: bytes | str, keep: int = 0
) -> Plan[int | Word]:
    """Append a line to the job's log, keeping the last `keep` (0: all). Answers how many lines
    there are now, or `gone`."""
    raw = ids.check(job_id)
    args = (q.base, raw, as_bytes(line), whole(keep, "lines to keep", 0))
    reply = yield _ADD_LOG.call((q.row(raw), q.logs(raw)), *args)
    return int(reply[1]) if reply[0] == b"ok" else word(reply)


def get_job_logs(
    q: QueueKeys, job_id: bytes | str, last: int = MOST_LINES
) -> Plan[list[bytes] | Word]:
    """The `last` lines of the job's log in the order they were written, or `gone`. Never over
    `MOST_LINES`."""
    raw = ids.check(job_id)
    most = min(whole(last, "lines"), MOST_LINES)
    reply = yield _JOB_LOGS.call((q.row(raw), q.logs(raw)), most)
    return Word.gone if reply[1] == b"gone" else list(reply[2])


def remove_job(
    q: QueueKeys,
    job_id: bytes | str,
    dedup: bytes | str | None = None,
    expected: Literal["awaiting_children", "unknown"] | None = None,
) -> Plan[Word]:
    """Remove a job in whatever state, its row and its log; `dedup` is let go where this job owns
    it. With `expected` only one that no set names, and that waits for its children or (`unknown`)
    does not.

    Answers `ok`, `gone`, `locked` where a worker marked it as in its hands, or `moved` where it
    is not as expected (nothing changed).
    """
    raw = ids.check(job_id)
    keys = (q.row(raw), q.logs(raw), q.lock(raw))
    args = (q.base, raw, as_bytes(dedup or b""), expected or b"")
    return word((yield _REMOVE_JOB.call(keys, *args)))


def reprocess_job(q: QueueKeys, job_id: bytes | str) -> Plan[Word]:
    """Let a dead job wait again, in its lane where it has one. Attempts stay: its next failure at
    the same cap kills it again. Answers `ok`, `gone` (no row, or none with a payload) or
    `not_dead`."""
    raw = ids.check(job_id)
    return word((yield _REPROCESS_JOB.call((q.row(raw), q.dead, q.pending), q.base, raw)))


def reschedule(
    q: QueueKeys, member: bytes | str, run_at_ms: int, expected_score: bytes | str | None = None
) -> Plan[Word]:
    """Give a scheduled job another instant (Unix ms), if its score still is `expected_score`, as
    the server prints scores; None asks for none.

    Answers `ok`, `noop` (it is at that instant), `moved` (to another score meanwhile),
    `not_scheduled`, or `gone` (no row with a payload).
    """
    raw = as_bytes(member)
    expected = b"" if expected_score is None else as_bytes(expected_score)
    args = (q.base, raw, instant(run_at_ms), expected)
    return word((yield _RESCHEDULE.call((q.row(raw), q.schedule), *args)))


def run_now(q: QueueKeys, member: bytes | str) -> Plan[Word]:
    """Move one scheduled job into pending or its lane, as promote would if it were due. Answers
    `ok`, `noop` (it waits or runs already), `not_scheduled`, or `gone` (no row with a
    payload)."""
    raw = as_bytes(member)
    keys = (q.row(raw), q.schedule, q.pending, q.active)
    return word((yield _RUN_NOW.call(keys, q.base, raw)))


def remove_member(
    q: QueueKeys,
    set_name: Literal["pending", "active", "schedule", "dead", "lane"],
    member: bytes | str,
    group: bytes | str = b"",
) -> Plan[Word]:
    """Remove one member of one set, also one that no gate would let in; `group` names the lane
    where the set is one. The job's row goes too once no set names it. Answers `ok`, `gone` (not
    in the set) or `locked`."""
    return word((yield _remove_member(q, set_name, as_bytes(member), as_bytes(group))))


def _remove_member(q: QueueKeys, set_name: str, raw: bytes, group: bytes) -> Call:
    sets = {"pending": q.pending, "active": q.active, "schedule": q.schedule, "dead": q.dead}
    lane_name = b""
    if set_name == "lane":
        lane_name, sets = group, {"lane": q.lane(group)}
    if set_name not in sets:
        raise InvalidError(f"no set of jobs is called {set_name!r}")
    keys = (sets[set_name], q.row(raw), q.logs(raw), q.lock(raw))
    return _REMOVE_MEMBER.call(keys, q.base, raw, lane_name)


def get_dedup_job_id(q: QueueKeys, dedup: bytes | str) -> Plan[bytes | None]:
    """The job that owns a dedup id, or None (part 4.10)."""
    reply = yield _DEDUP_JOB_ID.call((q.dedup(as_bytes(dedup)),))
    owner: bytes | None = reply[1]
    return owner
