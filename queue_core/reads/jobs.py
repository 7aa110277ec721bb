"""One job: its row, and where it is (protocol part 5.1)."""

from queue_core import ids
from queue_core.errors import ContractError
from queue_core.jobs import Job
from queue_core.keys import QueueKeys
from queue_core.plans import Plan
from queue_core.reads.snapshot import Snapshot
from queue_core.replies import pairs
from queue_core.scripts import script
from queue_core.states import State

MOST_FIELDS = 64
"""Fields of a row that are read whole; engines write fewer than twenty."""

FIELDS = (
    "state", "attempts", "payload", "group", "last_error", "progress", "stalled",
    "parent", "parent_queue", "parent_policy", "lock", "py_held", "py_repeat", "py_due",
)  # fmt: skip
"""Every field an engine writes (protocol part 2.2, and ours)."""

_GET_JOB = script("reads/get_job")
_GET_JOB_STATE = script("reads/get_job_state")


def get_job(q: QueueKeys, job_id: bytes | str) -> Plan[Snapshot[Job | None]]:
    """The job's row with its payload, None where there is none. Incomplete where the row has
    more fields than `MOST_FIELDS`: then only the known ones are there."""
    raw = ids.check(job_id)
    at_ms, fields, flat = yield _GET_JOB.call((q.row(raw),), MOST_FIELDS, *FIELDS)
    job = Job(raw, pairs(flat)) if fields else None
    if fields > MOST_FIELDS:
        return Snapshot(job, at_ms, False, f"the row has {fields} fields; the known ones are read")
    return Snapshot(job, at_ms)


def get_job_state(q: QueueKeys, job_id: bytes | str) -> Plan[Snapshot[State]]:
    """Where the job is. The sets decide; the row's own word only where no set names it. A job
    in its lane is `in_lane`, which other engines call unknown (part 10, row 30)."""
    raw = ids.check(job_id)
    keys = (q.row(raw), q.pending, q.active, q.schedule, q.dead)
    at_ms, state = yield _GET_JOB_STATE.call(keys, q.base, raw)
    try:
        return Snapshot(State(state.decode("ascii")), at_ms)
    except ValueError:
        raise ContractError(f"no state of the wire: {state!r}") from None
