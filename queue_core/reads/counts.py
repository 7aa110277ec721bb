"""How much there is (protocol part 5.1)."""

from collections.abc import Iterable

from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.reads.snapshot import Snapshot
from queue_core.scripts import script

COUNTED = ("pending", "active", "schedule", "dead", "completed", "failed")
"""What can be counted: four sets and two counters that only grow."""

_GET_COUNTS = script("reads/get_counts")


def get_counts(
    q: QueueKeys, names: Iterable[str] = COUNTED
) -> Plan[Snapshot[dict[str, int]] | Word]:
    """Sizes of the named sets and counters at one moment, in the order asked.

    Jobs that wait in lanes are in no set of these, `pending` included. Any other name is
    answered `unknown_state`, with nothing sent.
    """
    asked = list(dict.fromkeys(names))
    if not set(asked) <= set(COUNTED):
        return Word.unknown_state
    keys = (q.pending, q.active, q.schedule, q.dead, q.metrics_completed, q.metrics_failed)
    reply = yield _GET_COUNTS.call(keys, *asked)
    counts = {name: int(count) for name, count in zip(asked, reply[1:], strict=True)}
    return Snapshot(counts, reply[0])
