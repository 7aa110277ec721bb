"""One turn of a worker: settle what has ended and claim what comes next, in one round trip.

Which waiting set is asked first alternates with each turn that claims, so that neither the ring
nor flat pending starves the other (protocol part 10, row 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from queue_core.errors import EchoMQError
from queue_core.exchange import lockstep
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.plans import Batch, Call, Plan, Reply
from queue_core.replies import verdicts
from queue_core.scripts import script
from queue_core.verbs import claims, settle
from queue_core.work.serving import Policy, announce, settle_by
from queue_core.work.verdicts import Done, Verdict

Ended: TypeAlias = tuple[Lease, Verdict]
"""A job whose handler has ended, and what is to become of it."""

Taken: TypeAlias = list[Lease] | EchoMQError | None
"""The leases of a claim, the fault that it met, or None where it met and dropped only ghosts and
should be asked again."""

SHORT_MS = 10.0
"""Jobs are taken ahead only as far as handlers will have started them in so long."""

MEASURED = 8
"""Handlers that must have ended before anything is taken ahead."""

_WAITING = script("reads/waiting")


@dataclass(frozen=True, slots=True)
class Want:
    """What a worker would take: `size` jobs, of which handlers can start `sure` at once; the
    ring or flat pending first, by `turn`."""

    size: int
    sure: int
    lease_ms: int
    worker: bytes
    turn: int
    weighted: bool = False

    def call(self, q: QueueKeys) -> Call:
        """The claim."""
        first = self.turn % 2 == 0
        return claims.next_call(
            q, self.size, self.lease_ms, self.worker, self.sure, first, self.weighted
        )


def turn(
    q: QueueKeys,
    ended: Sequence[Ended],
    policy: Policy,
    want: Want | None,
    meanwhile: Callable[[], None] | None = None,
) -> Plan[tuple[list[Word | EchoMQError], Taken]]:
    """Settle each of `ended` by itself and tell of it, and claim what is wanted: a word or a fault
    for each, in order, and what the claim came to. `meanwhile` as of a `Batch`."""
    if not ended and want is not None:
        return [], (yield from _claimed(want.call(q)))
    done = [at for at, (_, verdict) in enumerate(ended) if type(verdict) is Done]
    calls = settle.complete_calls(q, [_done(*ended[at]) for at in done])
    rest = [at for at, (_, verdict) in enumerate(ended) if type(verdict) is not Done]
    rounds = lockstep([_by_itself(q, *ended[at], policy) for at in rest])
    step = _next(rounds, None)
    batch = [call for call, _ in calls] + (step if isinstance(step, list) else [])
    claim = want.call(q) if want is not None else None
    replies = yield Batch(tuple([*batch, claim] if claim is not None else batch), meanwhile)

    answers: dict[int, Word | EchoMQError] = {}
    said: list[Word | EchoMQError] = []
    for (_, count), reply in zip(calls, replies, strict=False):
        said += [reply] * count if isinstance(reply, EchoMQError) else verdicts(reply, count)
    answers.update(zip(done, said, strict=True))
    taken: Taken = _taken(replies[-1]) if claim is not None else []
    if isinstance(step, list):
        step = _next(rounds, replies[len(calls) : len(batch)])
        while isinstance(step, list):
            step = _next(rounds, (yield Batch(tuple(step))))
    answers.update(zip(rest, step.results, strict=True))
    return [answers[at] for at in range(len(ended))], taken


@dataclass(frozen=True, slots=True)
class _Over:
    """What plans in lockstep came to."""

    results: list[Word | EchoMQError]


def _next(rounds: Reply, replies: Reply) -> list[Call] | _Over:
    try:
        calls: list[Call] = rounds.send(replies)
    except StopIteration as end:
        return _Over(end.value)
    return calls


def _done(lease: Lease, verdict: Verdict) -> tuple[bytes, bytes, bytes | None]:
    assert isinstance(verdict, Done)
    return lease.id, lease.token, verdict.result


def _by_itself(q: QueueKeys, lease: Lease, verdict: Verdict, policy: Policy) -> Plan[Word]:
    word = yield from settle_by(q, lease, verdict, policy)
    try:
        yield from announce(q, lease, verdict, word)
    except EchoMQError:
        return word  # nobody was told; the job is settled
    return word


def _claimed(call: Call) -> Plan[Taken]:
    """A claim that travels alone, as an idle worker's does."""
    try:
        return claims.leases((yield call))
    except EchoMQError as fault:
        return fault


def _taken(reply: Reply) -> Taken:
    return reply if isinstance(reply, EchoMQError) else claims.leases(reply)


def give_back(q: QueueKeys, leases: Sequence[Lease]) -> Plan[None]:
    """Let jobs that were not begun wait again, in one round trip. Raises the first fault; what it
    met returns by its lease."""
    rounds = lockstep([settle.give_back(q, lease.id, lease.token) for lease in leases])
    step = _next(rounds, None)
    while isinstance(step, list):
        step = _next(rounds, (yield Batch(tuple(step))))
    for answer in step.results:
        if isinstance(answer, EchoMQError):
            raise answer


def look(q: QueueKeys) -> Call:
    """The read whose change tells an idle worker that there may be something to claim."""
    return _WAITING.call((q.pending, q.ring, q.meta), q.base)


def waits(found: Reply | None) -> bool:
    """Whether a claim after a look is worth its while; None is the look that told nothing."""
    if found is None:
        return True
    _now_ms, flat, lanes, paused = found
    return bool(flat or lanes) and not paused


class Ahead:
    """How many jobs a worker may hold beyond those that its handlers can start at once: none
    until handlers were seen to be quick, and never more than `most`."""

    def __init__(self, concurrency: int, most: int) -> None:
        self._concurrency = concurrency
        self._most = most
        self._seen = 0
        self._mean_ms = 0.0

    def ran(self, run_ms: float) -> None:
        """Note how long a handler took."""
        self._seen += 1
        self._mean_ms += (run_ms - self._mean_ms) / min(self._seen, 20)

    def forget(self) -> None:
        """Trust nothing that was seen."""
        self._seen = 0

    @property
    def room(self) -> int:
        """Jobs to hold ahead."""
        if self._seen < MEASURED:
            return 0
        return min(self._most, int(self._concurrency * SHORT_MS / max(self._mean_ms, 0.001)))
