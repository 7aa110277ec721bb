"""Verbs that time drives: due jobs and leases that ran out, by the server's clock (part 4.4).

Each call is one bounded script; what is left is for the next call. They go on while the queue is
paused. Ids without a job behind them are dropped and not counted.
"""

from queue_core import ids
from queue_core.keys import QueueKeys
from queue_core.numbers import whole
from queue_core.plans import Plan
from queue_core.scripts import script

MOST = 500
"""Jobs of one call, four ms of script where all have lanes."""

REAP_AT_ONCE = 100
"""Leases that one reap ends, as every engine of the wire does."""

_PROMOTE = script("promote")
_REAP = script("reap")
_REAP_GROUP = script("reap_group")
_CHECK_STALLED = script("check_stalled")


def promote(q: QueueKeys, batch: int) -> Plan[int]:
    """Move up to `batch` due jobs into pending or their lanes, earliest first; how many. Never
    over `MOST`."""
    most = min(whole(batch, "a batch"), MOST)
    reply = yield _PROMOTE.call((q.schedule, q.pending), q.base, most)
    return int(reply[1])


def reap(q: QueueKeys) -> Plan[int]:
    """Let up to `REAP_AT_ONCE` jobs whose lease ran out wait again; how many. It never gives a
    job up: `check_stalled` does."""
    reply = yield _REAP.call((q.active, q.pending), q.base, REAP_AT_ONCE)
    return int(reply[1])


def reap_group(q: QueueKeys, group: bytes | str, limit: int = 100) -> Plan[int]:
    """Let expired jobs of one lane wait again, as many as stand among the first `limit` expired
    of the whole queue; how many."""
    lane_name = ids.check(group)
    most = min(whole(limit, "a limit"), MOST)
    reply = yield _REAP_GROUP.call((q.active, q.lane(lane_name)), q.base, lane_name, most)
    return int(reply[1])


def check_stalled(
    q: QueueKeys, max_stalled: int = 1, limit: int = 100
) -> Plan[tuple[list[bytes], list[bytes]]]:
    """Count a stall on up to `limit` jobs whose lease ran out: the ids that wait again, and those
    that are dead because it was their `max_stalled`-th."""
    stalls = whole(max_stalled, "max stalled")
    most = min(whole(limit, "a limit"), MOST)
    reply = yield _CHECK_STALLED.call((q.active, q.pending, q.dead), q.base, stalls, most)
    return list(reply[1]), list(reply[2])
