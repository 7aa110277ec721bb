"""Verbs that take jobs to work on (protocol part 4.2).

Each is one script that tests the pause itself, takes the leases by the server's clock and
passes over ids without a job behind them (part 10, rows 6, 7 and 21). `worker` is a name for
the console to show; empty leaves no trace. Where `meta.py_enforce` is set, claims keep to the
queue's concurrency and rate and find nothing beyond them (row 22). One claim takes 16 MiB of
payload, and the job that goes over it, and no more. All raise `InvalidError` for
a lease under 1 ms.
"""

from queue_core.errors import ContractError
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.names import as_bytes
from queue_core.numbers import lease, whole
from queue_core.plans import Call, Plan, Reply
from queue_core.scripts import script

MOST = 1000
"""Jobs of one claim; a script's work and its reply stay bounded."""

_CLAIM = script("claim")
_CLAIM_NEXT = script("claim_next")
_LANE_CLAIM = script("lane_claim")
_LANE_CLAIM_SHARE = script("lane_claim_share")
_LANE_CLAIM_FULL = script("lane_claim_full")


def claim(q: QueueKeys, lease_ms: int, worker: bytes | str = b"") -> Plan[Lease | None]:
    """The oldest flat pending job by mint order, or None where none waits or the queue is
    paused."""
    taken = yield from claim_batch(q, 1, lease_ms, worker)
    return taken[0] if taken else None


def claim_batch(
    q: QueueKeys, size: int, lease_ms: int, worker: bytes | str = b""
) -> Plan[list[Lease]]:
    """Up to `size` of the oldest flat pending jobs, all with one deadline; never over `MOST`."""
    most = min(whole(size, "a batch"), MOST)
    keys, args = (q.pending, q.active), (q.base, most, lease(lease_ms), as_bytes(worker))
    return (yield from _taken(_CLAIM.call(keys, *args)))


def claim_next(
    q: QueueKeys,
    size: int,
    lease_ms: int,
    worker: bytes | str = b"",
    *,
    sure: int = MOST,
    ring_first: bool = False,
    weighted: bool = False,
) -> Plan[list[Lease]]:
    """Up to `size` jobs of flat pending and of the ring, asked in that order or the other; never
    over `MOST`. The ring turns for each job, or, `weighted`, for each lane's weight.

    Beyond `sure` jobs, which their taker can start at once, only jobs are taken that were never
    tried: so none waits in hand beside one that may end its worker (part 10, row 14).
    """
    call = next_call(q, size, lease_ms, worker, sure, ring_first, weighted)
    return (yield from _taken(call))


def next_call(
    q: QueueKeys,
    size: int,
    lease_ms: int,
    worker: bytes | str,
    sure: int,
    ring_first: bool,
    weighted: bool,
) -> Call:
    """The call of `claim_next`, to be sent beside others; `leases` reads its reply."""
    most = min(whole(size, "a batch"), MOST)
    held = min(whole(sure, "the sure", 0), most)
    first = b"ring" if ring_first else b"flat"
    args = (q.base, most, held, first, int(weighted), lease(lease_ms), as_bytes(worker))
    return _CLAIM_NEXT.call((q.pending, q.ring, q.active), *args)


def leases(reply: Reply) -> list[Lease] | None:
    """What a claim took; None where it met and dropped only ghosts and should be asked again."""
    if reply[0] == b"claimed":
        deadline_ms = reply[1]
        return [_lease(entry, deadline_ms) for entry in reply[2:]]
    if reply[0] == b"empty":
        return []
    if reply[0] != b"again":
        raise ContractError(f"no verdict of a claim: {reply!r}")
    return None


def lane_claim(q: QueueKeys, lease_ms: int, worker: bytes | str = b"") -> Plan[Lease | None]:
    """The oldest job of the next lane in the ring. None where the ring or that lane is empty or
    the queue is paused; other lanes may still have work (part 10, row 16)."""
    keys, args = (q.ring, q.active), (q.base, lease(lease_ms), as_bytes(worker))
    taken = yield from _taken(_LANE_CLAIM.call(keys, *args))
    return taken[0] if taken else None


def lane_claim_weighted(
    q: QueueKeys, lease_ms: int, worker: bytes | str = b""
) -> Plan[list[Lease]]:
    """As many jobs of the next lane as its weight says, its ceiling allows and wait there."""
    return (yield from _share(q, True, lease_ms, worker))


def lane_claim_batch(q: QueueKeys, lease_ms: int, worker: bytes | str = b"") -> Plan[list[Lease]]:
    """All that waits in the next lane, as far as its ceiling allows; never over `MOST`."""
    return (yield from _share(q, False, lease_ms, worker))


def lane_claim_full(
    q: QueueKeys, least: int, most: int, lease_ms: int, worker: bytes | str = b""
) -> Plan[list[Lease]]:
    """Up to `most` jobs of the first lane of the ring in which `least` wait, or as many as its
    ceiling allows; never over `MOST`. Lanes passed over keep their turn, and none need be asked
    again where the first turned out empty (part 10, row 16)."""
    size = min(whole(most, "a batch"), MOST)
    args = (q.base, whole(least, "a full batch"), size, lease(lease_ms), as_bytes(worker))
    return (yield from _taken(_LANE_CLAIM_FULL.call((q.ring, q.active), *args)))


def _share(q: QueueKeys, weighted: bool, lease_ms: int, worker: bytes | str) -> Plan[list[Lease]]:
    args = (q.base, int(weighted), MOST, lease(lease_ms), as_bytes(worker))
    return (yield from _taken(_LANE_CLAIM_SHARE.call((q.ring, q.active), *args)))


def _taken(call: Call) -> Plan[list[Lease]]:
    """One round trip; another only after a script that met and dropped a hundred ghosts."""
    while True:
        taken = leases((yield call))
        if taken is not None:
            return taken


def _lease(entry: Reply, deadline_ms: int) -> Lease:
    job_id, payload, attempts, *lane = entry
    return Lease(job_id, payload, attempts, deadline_ms, lane[0] if lane else None)
