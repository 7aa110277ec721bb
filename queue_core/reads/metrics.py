"""Counters that only grow (protocol part 5.1)."""

from dataclasses import dataclass
from typing import Literal

from queue_core import ids
from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys
from queue_core.numbers import digits
from queue_core.plans import Call, Plan
from queue_core.reads.snapshot import Snapshot
from queue_core.scripts import script

_GET_METRICS = script("reads/get_metrics")


@dataclass(frozen=True, slots=True)
class Metrics:
    """How many jobs completed or failed since the counter began, and how many data points lie
    beside it (no engine of today writes any)."""

    count: int
    data_points: int


def get_metrics(q: QueueKeys, which: Literal["completed", "failed"]) -> Plan[Snapshot[Metrics]]:
    """One of the two counters. A counter that is no number reads 0, as on the wire. Raises
    `InvalidError` for another name."""
    if which not in ("completed", "failed"):
        raise InvalidError(f"the counters are completed and failed, got {which!r}")
    counter = q.metrics_completed if which == "completed" else q.metrics_failed
    reply = yield _GET_METRICS.call((counter, counter + b":data"), q.base)
    return Snapshot(Metrics(int(reply[1]), int(reply[2])), reply[0])


def job_stalled(q: QueueKeys, job_id: bytes | str) -> Plan[bool]:
    """Whether a job's lease ran out at least once and the stalled check took note."""
    raw = yield Call("HGET", (q.row(ids.check(job_id)),), ("stalled",))
    return (digits(raw) or 0) > 0
