"""Jobs taken and settled by the batch: when to take one, what each member's verdict does, and
how it ended (protocol part 6.4).

`decide` and `partition` are pure. `settle` is a plan that settles every member by itself, in one
round trip, so that one bad verdict or fault leaves no other member unsettled (part 10, row 20).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from queue_core.errors import EchoMQError
from queue_core.exchange import lockstep
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.outcomes import OUTCOME_OF, Outcome, Word
from queue_core.plans import Batch, Plan
from queue_core.work.serving import Policy, settle_by
from queue_core.work.verdicts import Done, Failed, Later, Verdict, failure, verdict_of

MISSING = "missing verdict"
"""The error of a member that the handler said nothing about."""

Outcomes = Mapping[bytes, Word | EchoMQError]


@dataclass(frozen=True, slots=True)
class Parts:
    """How the members of a batch ended, by id, each in exactly one part.

    `lost` were settled by nobody here: the settle answered stale or gone, or met a fault. They
    are another holder's, or come back when their lease ends.
    """

    completed: tuple[bytes, ...]
    delayed: tuple[bytes, ...]
    retried: tuple[bytes, ...]
    dead: tuple[bytes, ...]
    lost: tuple[bytes, ...]


def decide(depth: int, elapsed_ms: int, min_size: int, timeout_ms: int) -> int:
    """How many jobs to take now, 0 to wait on.

    Takes all `depth` waiting jobs once they are `min_size`, or once `timeout_ms` went by since
    the window opened and there is at least one. With none at the timeout it waits; the next one
    then goes at once. `elapsed_ms` is of a monotonic clock.
    """
    due = depth >= min_size or elapsed_ms >= timeout_ms
    return depth if due and depth > 0 else 0


def verdicts_of(leases: Sequence[Lease], answer: Any) -> dict[bytes, Verdict]:
    """A verdict for every member from whatever a handler answered: a mapping of id to verdict,
    None for done. What is missing or no verdict fails its member; an answer that is no mapping
    fails them all."""
    if not isinstance(answer, Mapping):
        bad = Failed(f"bad verdict: {type(answer).__name__}")
        return {lease.id: bad for lease in leases}
    return {lease.id: _verdict(answer, lease.id) for lease in leases}


def _verdict(answer: Mapping[Any, Any], job_id: bytes) -> Verdict:
    try:
        return verdict_of(answer[job_id])
    except KeyError:
        return Failed(MISSING)
    except Exception as error:  # noqa: BLE001 (a mapping of a handler's own)
        return failure(error)


def settle(
    q: QueueKeys, leases: Sequence[Lease], verdicts: Mapping[bytes, Verdict], policy: Policy
) -> Plan[dict[bytes, Word | EchoMQError]]:
    """Settle every member under its own token, all in one round trip: its word by id, or the
    fault it met. A member without a verdict is retried with the error `MISSING`."""
    plans = [
        settle_by(q, lease, verdicts.get(lease.id, Failed(MISSING)), policy) for lease in leases
    ]
    rounds = lockstep(plans)
    try:
        calls = next(rounds)
        while True:
            calls = rounds.send((yield Batch(tuple(calls))))
    except StopIteration as end:
        return {lease.id: answer for lease, answer in zip(leases, end.value, strict=True)}


def partition(
    leases: Sequence[Lease], verdicts: Mapping[bytes, Verdict], outcomes: Outcomes
) -> Parts:
    """Where each member ended, by its verdict and what the settle answered."""
    parts: dict[str, list[bytes]] = {name: [] for name in Parts.__slots__}
    for lease in leases:
        verdict = verdicts.get(lease.id, Failed(MISSING))
        parts[_part(verdict, outcomes.get(lease.id))].append(lease.id)
    return Parts(**{name: tuple(members) for name, members in parts.items()})


def _part(verdict: Verdict, word: Word | EchoMQError | None) -> str:
    if not isinstance(word, Word) or OUTCOME_OF[word] is not Outcome.done:
        return "lost"
    if isinstance(verdict, Done):
        return "completed"
    if isinstance(verdict, Later):
        return "delayed"
    return "dead" if word is Word.dead else "retried"
