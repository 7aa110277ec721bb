"""Repeats: templates that are admitted again and again (protocol part 4.7).

`register`, `cancel`, `due`, `advance` and `count` are the wire's verbs. `repeat_fire` is what
our own pump calls: one script takes the occurrence, admits the job and arms the next run, so
several pumps, or a crash between two steps, fire nothing twice. A paused repeat keeps its
member in the schedule, parked at `PARKED_MS` where no engine finds it due.
"""

from dataclasses import dataclass

from queue_core import ids
from queue_core.keys import QueueKeys
from queue_core.names import as_bytes
from queue_core.numbers import delay, whole
from queue_core.outcomes import Word
from queue_core.plans import Call, Plan
from queue_core.replies import word
from queue_core.scripts import script

PARKED_MS = 9_007_199_254_740_991
"""The score of a paused repeat: the greatest whole number that is exact as a double."""

MAX_EVERY_MS = 10**15 - 1
"""Longer than any clock will run, and exact as a double."""

MOST_DUE = 1000
"""Repeats that one look at what is due answers, their templates with them."""

_REGISTER = script("repeat_register")
_CANCEL = script("repeat_cancel")
_DUE = script("reads/repeat_due")
_ADVANCE = script("repeat_advance")
_FIRE = script("repeat_fire")
_RUN_NOW = script("repeat_run_now")
_PAUSE = script("repeat_pause")
_RESUME = script("repeat_resume")


@dataclass(frozen=True, slots=True)
class DueRepeat:
    """A repeat whose time has come. `score` is its due time in Unix ms as the server prints it,
    which `repeat_fire` compares. `every_ms` and `template` are the record's raw bytes, None
    where the record lacks them."""

    name: bytes
    score: bytes
    every_ms: bytes | None
    template: bytes | None


def register(
    q: QueueKeys, name: bytes | str, every_ms: int, template: bytes, first_in_ms: int = 0
) -> Plan[Word]:
    """Register a repeat whose first run is `first_in_ms` from now. Answers `registered`, or
    `exists` where the name has a record, which is left as it is."""
    raw = as_bytes(name)
    args = (whole(every_ms, "a period in ms", most=MAX_EVERY_MS), template, delay(first_in_ms))
    keys = (q.repeat, q.repeat_record(raw))
    return word((yield _REGISTER.call(keys, q.base, raw, *args)))


def cancel(q: QueueKeys, name: bytes | str) -> Plan[Word]:
    """Forget a repeat: member, record and runs. Answers `cancelled`, or `absent` where it was in
    no schedule (a record without a schedule is removed all the same)."""
    raw = as_bytes(name)
    keys = (q.repeat, q.repeat_record(raw), q.repeat_runs(raw))
    return word((yield _CANCEL.call(keys, q.base, raw)))


def due(q: QueueKeys, limit: int, now_ms: int | None = None) -> Plan[list[DueRepeat]]:
    """Up to `limit`, never over 1000, repeats due at `now_ms`, by default the server's clock;
    soonest first."""
    at = "" if now_ms is None else now_ms
    reply = yield _DUE.call((q.repeat,), q.base, at, min(whole(limit, "a limit"), MOST_DUE))
    return [DueRepeat(*entry) for entry in reply[1:]]


def advance(
    q: QueueKeys, name: bytes | str, every_ms: int, now_ms: int | None = None
) -> Plan[Word]:
    """Arm the next run one period from `now_ms`, by default the server's clock.

    Answers `advanced`, `absent` (no record; a stray member is removed) or `paused`.
    """
    raw = as_bytes(name)
    period = whole(every_ms, "a period in ms", most=MAX_EVERY_MS)
    keys = (q.repeat, q.repeat_record(raw))
    at = "" if now_ms is None else now_ms
    return word((yield _ADVANCE.call(keys, q.base, raw, period, at)))


def count(q: QueueKeys) -> Plan[int]:
    """How many repeats are in the schedule, parked ones included."""
    return int((yield Call("ZCARD", (q.repeat,))))


def repeat_fire(
    q: QueueKeys, name: bytes | str, expected_score: bytes | str, job_id: bytes | str
) -> Plan[Word]:
    """Take one due occurrence: admit the template as `job_id` and arm the next run at the next
    slot of the cadence, counted from the slot that was due, past now.

    Answers `fired`; `moved` (another pump was first, or it is not due); `absent` (cancelled);
    `duplicate` (the id has a row: mint another); `paused` (another engine had re-armed it: it is
    parked again); `invalid` (its record has no usable cadence or template: it is parked, to be
    seen and mended); `kind`.
    """
    raw, run_id = as_bytes(name), ids.check(job_id)
    keys = (q.repeat, q.repeat_record(raw), q.row(run_id), q.pending, q.repeat_runs(raw))
    return word((yield _FIRE.call(keys, q.base, raw, expected_score, run_id)))


def run_now(q: QueueKeys, name: bytes | str, job_id: bytes | str) -> Plan[Word]:
    """Admit one run at once, paused or not; its next run stays where it is. Answers `enqueued`,
    `duplicate`, `absent` (no template) or `kind`."""
    raw, run_id = as_bytes(name), ids.check(job_id)
    keys = (q.repeat_record(raw), q.row(run_id), q.pending, q.repeat_runs(raw))
    return word((yield _RUN_NOW.call(keys, q.base, raw, run_id)))


def pause(q: QueueKeys, name: bytes | str, by: bytes | str) -> Plan[Word]:
    """Park a repeat. `by` is who did, kept in its record. Answers `ok`, `noop` or `absent`."""
    raw = as_bytes(name)
    keys = (q.repeat, q.repeat_record(raw))
    return word((yield _PAUSE.call(keys, q.base, raw, by)))


def resume(q: QueueKeys, name: bytes | str) -> Plan[Word]:
    """Put a parked repeat back into its schedule: at the run it was parked before if that still
    lies ahead, else at the cadence's next slot. Answers `ok`, `noop` (not parked), `absent` or
    `invalid` (no usable cadence; it stays parked)."""
    raw = as_bytes(name)
    keys = (q.repeat, q.repeat_record(raw))
    return word((yield _RESUME.call(keys, q.base, raw)))
