"""The lock plane: markers that tell a removal that a job is held (protocol part 4.9).

The lease itself is the score in `active`; the markers only make `remove_job` refuse. Both are
kept, as peers read either: the string `job:<id>:lock` and the row's field `lock`, each with a
life of its own.
"""

from collections.abc import Sequence

from queue_core import ids
from queue_core.keys import QueueKeys
from queue_core.numbers import lease
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.replies import word
from queue_core.scripts import script

_TRACK = script("lock_track")
_UNTRACK = script("lock_untrack")
_BEAT = script("lock_beat")


def lock_track(
    q: QueueKeys, job_id: bytes | str, token: bytes | str | int, marker_ttl_ms: int
) -> Plan[Word]:
    """Mark a claimed job as held for `marker_ttl_ms`. Answers `ok`, or `gone` where the job has
    no row: nothing is written then, so that the id can be used again (part 10, row 28)."""
    raw = ids.check(job_id)
    keys = (q.row(raw), q.lock(raw))
    return word((yield _TRACK.call(keys, q.base, token, lease(marker_ttl_ms))))


def lock_untrack(q: QueueKeys, job_id: bytes | str) -> Plan[Word]:
    """Take the markers away; settles nothing. Answers `ok`, or `noop` where there were none."""
    raw = ids.check(job_id)
    return word((yield _UNTRACK.call((q.row(raw), q.lock(raw)), q.base)))


def lock_beat(
    q: QueueKeys,
    held: Sequence[tuple[bytes | str, bytes | str | int]],
    lease_ms: int,
    marker_ttl_ms: int,
) -> Plan[list[bytes]]:
    """Extend leases and markers (ms from now) of all held (id, token) pairs in one script; answers
    the ids that were not extended: gone, taken by another holder, or no longer active."""
    pairs: list[bytes | str | int] = []
    for job_id, token in held:
        pairs += (ids.check(job_id), token)
    if not pairs:
        return []
    reply = yield _BEAT.call((q.active,), q.base, lease(lease_ms), lease(marker_ttl_ms), *pairs)
    return list(reply[1:])
