"""What bounds a queue: a rate and a ceiling that operators write into `meta` (part 4.10).

No verb of the wire spends or enforces them: a caller asks first and then claims. Our claims keep
to them where `queues.bound` said so (part 10, row 22).
"""

from dataclasses import dataclass

from queue_core.keys import QueueKeys
from queue_core.numbers import digits, whole
from queue_core.outcomes import Word
from queue_core.plans import Plan, Reply
from queue_core.reads.snapshot import Snapshot
from queue_core.scripts import script

_LIMITS = script("reads/limits")


@dataclass(frozen=True, slots=True)
class Limits:
    """`rate` jobs a window and `concurrency` jobs at once, 0 where unbounded or no number.
    `spent` of the rate is used, for `resets_in_ms` (0 where no window runs) to come; `active`
    jobs are held. `window_ms` is how long our windows last, 0 where nobody said; `enforced` is
    whether our claims keep to the bounds."""

    rate: int
    concurrency: int
    spent: int
    resets_in_ms: int
    active: int
    window_ms: int
    enforced: bool


def limits(q: QueueKeys) -> Plan[Snapshot[Limits]]:
    """The queue's bounds and their use at one moment."""
    keys = (q.meta, q.limiter, q.active)
    at_ms, meta, spent, resets_in_ms, active = yield _LIMITS.call(keys, q.base)
    rate, concurrency, window_ms, enforced = meta
    return Snapshot(
        Limits(
            rate=_number(rate),
            concurrency=_number(concurrency),
            spent=_number(spent),
            resets_in_ms=max(resets_in_ms, 0),
            active=active,
            window_ms=_number(window_ms),
            enforced=enforced is not None,
        ),
        at_ms,
    )


def rate_limit_ttl(q: QueueKeys, max_jobs: int = 0) -> Plan[int]:
    """How many ms until the spent rate resets, 0 where it is not spent. `max_jobs` stands in
    for the queue's own rate where it is over 0."""
    whole(max_jobs, "a rate", least=0)
    bounds = (yield from limits(q)).value
    rate = max_jobs or bounds.rate
    return bounds.resets_in_ms if 0 < rate <= bounds.spent else 0


def global_rate_limit(q: QueueKeys) -> Plan[int]:
    """The queue's own rate, 0 where it has none."""
    return (yield from limits(q)).value.rate


def is_maxed(q: QueueKeys) -> Plan[Word]:
    """`rate` where as many jobs are held as the queue's ceiling allows, else `ok`. What it says
    may be over when a claim follows."""
    bounds = (yield from limits(q)).value
    return Word.rate if 0 < bounds.concurrency <= bounds.active else Word.ok


def _number(raw: Reply) -> int:
    return digits(raw) or 0
