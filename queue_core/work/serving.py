"""The steps of serving one job, as plans: hold it, settle it, say what became of it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from queue_core import ids
from queue_core.errors import InvalidError
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.numbers import EXACT, delay, whole
from queue_core.outcomes import OUTCOME_OF, Outcome, Word
from queue_core.plans import Plan
from queue_core.verbs import events, settle
from queue_core.work.backoff import Backoff
from queue_core.work.verdicts import Dead, Done, Failed, Later, Verdict

UNTOLD_MS = 60_000
"""What a failed job waits where its policy's backoff gives no delay."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Policy:
    """How failures are retried: after `backoff.delay(attempt)` ms, dead at `max_attempts`."""

    backoff: Backoff
    max_attempts: int

    def __post_init__(self) -> None:
        """`InvalidError` for what gives no delays, and for a number of attempts that is none."""
        if not callable(getattr(self.backoff, "delay", None)):
            raise InvalidError(f"a policy's backoff gives delays, got {self.backoff!r}")
        whole(self.max_attempts, "max attempts", 0)

    def wait_ms(self, failures: int) -> int:
        """How long a job waits now. A backoff of a program's own may raise, or answer what is no
        delay: its failed jobs must end all the same, and wait `UNTOLD_MS`."""
        try:
            return delay(self.backoff.delay(failures), -EXACT // 2)
        except Exception:  # noqa: BLE001 (a program's own)
            _log.exception("a backoff gave no delay after failure %d", failures)
            return UNTOLD_MS


Held: TypeAlias = tuple[bytes, bytes]
"""A job's id and the token it was claimed under."""


def held_by(lease: Lease) -> Held:
    """What proves a lease."""
    return lease.id, lease.token


def extend_all(q: QueueKeys, held: Iterable[Held], lease_ms: int) -> Plan[set[Held]]:
    """Renew what is in hand; answers those that were lost. Of two claims of one job only the
    later can stand, so that only that one is asked about."""
    latest: dict[bytes, Held] = {}
    everything = list(held)
    for one in everything:
        other = latest.setdefault(one[0], one)
        if int(one[1]) > int(other[1]):
            latest[one[0]] = one
    if not latest:
        return set()
    failed = set((yield from settle.extend_locks(q, latest.values(), lease_ms)))
    return {one for one in everything if latest[one[0]] != one or one[0] in failed}


def settle_by(q: QueueKeys, lease: Lease, verdict: Verdict, policy: Policy) -> Plan[Word]:
    """Carry a verdict out, under the lease's token."""
    match verdict:
        case Done(result):
            return (yield from settle.complete(q, lease.id, lease.token, result))
        case Later(delay_ms):
            try:
                return (yield from settle.delay(q, lease.id, lease.token, delay_ms))
            except InvalidError as bad:
                # Nothing was sent. Tried again it would stay in hand for ever.
                return (yield from settle_by(q, lease, Failed(f"bad verdict: {bad}"), policy))
        case Dead(reason):
            text = reason.encode()
            return (yield from settle.retry(q, lease.id, lease.token, 0, 1, text))
        case Failed(reason):
            wait_ms = policy.wait_ms(lease.attempts)
            return (
                yield from settle.retry(
                    q, lease.id, lease.token, wait_ms, policy.max_attempts, reason.encode()
                )
            )


_EVENTS = {Word.ok: "completed", Word.dead: "failed", Word.scheduled: "retried"}


def announce(q: QueueKeys, lease: Lease, verdict: Verdict, word: Word) -> Plan[None]:
    """Publish what became of a job, only where the settle was accepted (part 10, rows 46, 47)."""
    if OUTCOME_OF[word] is not Outcome.done:
        return
    event = "delayed" if isinstance(verdict, Later) else _EVENTS[word]
    yield from events.publish(q, event, lease.id)


def waited_ms(lease: Lease, lease_ms: int) -> float | None:
    """How long a first-attempt job waited from mint to claim; None for later attempts and for
    ids that tell no time. The claim's moment is the deadline less the lease."""
    if lease.attempts != 1 or (minted := ids.minted_ms(lease.id)) is None:
        return None
    return lease.deadline_ms - lease_ms - minted
