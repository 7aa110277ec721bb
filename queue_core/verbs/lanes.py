"""Verbs on a lane: the share of a queue that waits and is served under one name (part 4.8).

A lane is named by a well-formed branded id of any namespace; the gate raises `InvalidError`
for any other name before anything is sent.
"""

from collections.abc import Iterable

from queue_core import ids
from queue_core.keys import QueueKeys
from queue_core.names import as_bytes
from queue_core.numbers import whole
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.replies import word
from queue_core.scripts import script
from queue_core.verbs.queues import MOST_A_STEP, drain_all

_PAUSE = script("lane_pause")
_RESUME = script("lane_resume")
_LIMIT = script("lane_limit")
_WEIGHT = script("lane_weight")
_REASSIGN = script("lane_reassign")
_DRAIN = script("lane_drain")
_DEPTHS = script("reads/lane_depths")

UNSET = "none"
"""What to expect of a limit or a weight where none is set."""


def pause(q: QueueKeys, group: bytes | str) -> Plan[Word]:
    """Park a lane: nothing more is claimed from it. Answers `ok` or `noop`."""
    lane_name = ids.check(group)
    return word((yield _PAUSE.call((q.paused, q.ring), q.base, lane_name)))


def resume(q: QueueKeys, group: bytes | str) -> Plan[Word]:
    """Unpark a lane and offer what waits in it. Answers `ok`, or `noop` where it was not parked
    (it is offered all the same, which mends a lane that fell out of the ring)."""
    lane_name = ids.check(group)
    keys = (q.paused, q.lane(lane_name), q.gactive)
    return word((yield _RESUME.call(keys, q.base, lane_name)))


def limit(
    q: QueueKeys, group: bytes | str, ceiling: int | None, expected: int | str | None = None
) -> Plan[Word]:
    """Let at most `ceiling` (from 1) jobs of a lane be in flight; None lifts the limit. With
    `expected` (a number, or `UNSET`) only while that still is its limit.

    Answers `ok`, `noop` where it was so already, or `moved` where another limit stands than the
    expected one (nothing changed). What is in flight above a lowered limit runs on.
    """
    lane_name = ids.check(group)
    number = _count(ceiling, "a lane's limit")
    keys = (q.glimit, q.lane(lane_name), q.gactive, q.ring)
    return word((yield _LIMIT.call(keys, q.base, lane_name, number, _seen(expected))))


def weight(
    q: QueueKeys, group: bytes | str, share: int | None, expected: int | str | None = None
) -> Plan[Word]:
    """Let a weighted claim take up to `share` (from 1) jobs of a lane; None puts it back to 1.
    With `expected` (a number, or `UNSET`) only while that still is its weight. Answers `ok`,
    `noop` or `moved` (another weight stands; nothing changed)."""
    lane_name, number = ids.check(group), _count(share, "a weight")
    return word((yield _WEIGHT.call((q.gweight,), q.base, lane_name, number, _seen(expected))))


def reassign(
    q: QueueKeys, job_id: bytes | str, group: bytes | str, expected: bytes | str | None = None
) -> Plan[Word]:
    """Move a job that waits in a lane to another lane; with `expected` only out of that one.

    Answers `reassigned`, `noop` (it is there already), `not_found` (no such job, or it is in no
    lane) or `not_pending` (held, scheduled or dead; nothing changed)
    or `moved` (it is of another lane than the expected one).
    """
    raw, lane_name = ids.check(job_id), ids.check(group)
    keys = (q.row(raw), q.lane(lane_name), q.ring, q.gactive)
    source = b"" if expected is None else as_bytes(expected)
    return word((yield _REASSIGN.call(keys, q.base, raw, lane_name, source)))


def drain(q: QueueKeys, group: bytes | str) -> Plan[int]:
    """Delete the jobs that wait in a lane now; answers how many.

    Several bounded scripts, one round trip each, so not one moment: jobs admitted meanwhile
    stay, since they are younger. What is in flight, limit and weight stay.
    """
    return (yield from drain_all(lambda budget: drain_step(q, group, budget)))


def drain_step(q: QueueKeys, group: bytes | str, budget: int) -> Plan[tuple[int, int]]:
    """One step of a drain, of at most `budget` and never over 1000 jobs: how many of the oldest
    were deleted, and how many are left."""
    lane_name = ids.check(group)
    keys = (q.lane(lane_name), q.ring)
    most = min(whole(budget, "a budget"), MOST_A_STEP)
    reply = yield _DRAIN.call(keys, q.base, lane_name, most)
    return int(reply[1]), int(reply[2])


def depth(q: QueueKeys, group: bytes | str) -> Plan[int]:
    """How many jobs wait in one lane."""
    found = yield from depths(q, [group])
    return found[ids.check(group)]


def depths(q: QueueKeys, groups: Iterable[bytes | str]) -> Plan[dict[bytes, int]]:
    """How many jobs wait in each of the named lanes, all at one moment."""
    names = [ids.check(group) for group in groups]
    reply = yield _DEPTHS.call((q.ring,), q.base, *names)
    return dict(zip(names, (int(waiting) for waiting in reply[1:]), strict=True))


def _seen(expected: int | str | None) -> str:
    return "" if expected is None else str(expected)


def _count(number: int | None, what: str) -> str:
    return "" if number is None else str(whole(number, what))
