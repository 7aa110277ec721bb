"""What waits in flat pending (protocol part 5.1)."""

from queue_core.keys import QueueKeys
from queue_core.numbers import whole
from queue_core.plans import Plan
from queue_core.reads.snapshot import Snapshot
from queue_core.scripts import script

MOST = 1000
"""Ids that one look answers."""

_BROWSE = script("reads/browse")


def browse(q: QueueKeys, most: int) -> Plan[Snapshot[list[bytes]]]:
    """The newest waiting ids by mint order, newest first; never over `MOST`. Incomplete where
    more wait."""
    at_ms, size, found = yield _BROWSE.call((q.pending,), min(whole(most, "a page"), MOST))
    if size > len(found):
        return Snapshot(list(found), at_ms, False, f"{len(found)} of {size} ids")
    return Snapshot(list(found), at_ms)


def pending_size(q: QueueKeys) -> Plan[Snapshot[int]]:
    """How many jobs wait in flat pending."""
    at_ms, size, _ = yield _BROWSE.call((q.pending,), 1)
    return Snapshot(int(size), at_ms)
