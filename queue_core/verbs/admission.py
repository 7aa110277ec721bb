"""Verbs that bring jobs in (protocol part 4.1)."""

from queue_core import ids
from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.replies import word
from queue_core.scripts import script

_ENQUEUE = script("enqueue")


def enqueue(q: QueueKeys, job_id: bytes | str, payload: bytes) -> Plan[Word]:
    """Admit a job into flat pending, in mint order.

    Answers `enqueued`, `duplicate` (the id has a row, in whatever state; nothing changed) or
    `kind` (not a JOB id). Raises `InvalidError` before anything is sent for an ill-formed id.
    """
    raw = ids.check(job_id)
    reply = yield _ENQUEUE.call((q.row(raw), q.pending), q.base, raw, payload)
    return word(reply)
