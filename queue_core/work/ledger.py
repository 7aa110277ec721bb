"""What a worker has in hand and what it owes the bus, whether threads or tasks do its work.

Its steps are plans that keep the ledger as they go: the worker's bus runs them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from queue_core import numbers, telemetry
from queue_core.errors import EchoMQError, InvalidError, UnavailableError, UnknownOutcomeError
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.outcomes import OUTCOME_OF, Outcome, Word
from queue_core.plans import Plan
from queue_core.quoting import quoted
from queue_core.work.hands import Hands, InHand
from queue_core.work.presence import Presence
from queue_core.work.serving import Held, Policy, extend_all, held_by, waited_ms
from queue_core.work.task import Attempt
from queue_core.work.trouble import Trouble
from queue_core.work.turns import Ahead, Want, give_back, turn
from queue_core.work.verdicts import Dead, Done, Failed, Later

WAITED_S = 1.0
"""Where no handler has ended for so long, jobs that none has begun are given back for others."""

_log = logging.getLogger(__name__)
_EVENTS = {Done: "job.complete", Failed: "job.fail", Dead: "job.fail", Later: "job.delay"}


class Ledger:
    """One worker's. All of it belongs to the one who takes turns, but `in_hand` and `beat`."""

    def __init__(
        self,
        q: QueueKeys,
        worker: bytes,
        hands: Hands,
        *,
        concurrency: int,
        lease_ms: int,
        policy: Policy,
        ahead: int,
        weighted: bool,
    ) -> None:
        self.q = q
        self.turns = 1
        self.unsettled: list[InHand] = []
        self.refused: list[InHand] = []
        self.presence = Presence(q, worker, concurrency)
        self._worker = worker
        self._hands = hands
        self._concurrency = concurrency
        self._lease_ms = numbers.lease(lease_ms)
        if not isinstance(policy, Policy):
            raise InvalidError(f"failures are retried by a Policy, got {policy!r}")
        self._policy = policy
        self._weighted = weighted
        self._ahead = Ahead(concurrency, numbers.whole(ahead, "jobs ahead", 0))
        self._held: dict[Held, InHand] = {}
        self._lock = threading.Lock()
        self._refusals = Trouble(f"settle on {quoted(q.name)}", _log)
        self._again_at = 0.0
        self._ungiven: list[InHand] = []
        self._unnoted: list[tuple[InHand, Word]] = []
        self._unbegun_at: float | None = None

    @property
    def in_hand(self) -> int:
        """Jobs claimed and not settled yet."""
        return len(self._held)

    def want(self) -> Want | None:
        """What there is room for, if anything."""
        free = self._concurrency - self._hands.out - len(self._ungiven)
        room = self._ahead.room
        size = min(free + room, max(self._concurrency, (self._concurrency + room) // 2))
        if size < 1:
            return None
        sure = max(0, free)
        return Want(size, sure, self._lease_ms, self._worker, self.turns, self._weighted)

    def collect(self, now: float) -> bool:
        """Take over what has ended. Whether jobs that nobody begins should be given back."""
        ended = self._hands.ended()
        stuck = False
        if ended or not self._hands.unbegun:
            self._unbegun_at = None
        elif self._unbegun_at is None:  # seen here first; the step before may have taken long
            self._unbegun_at = now
        elif now - self._unbegun_at > WAITED_S:
            self._ahead.forget()
            stuck = True
        self.unsettled += ended
        if self.refused and now >= self._again_at:
            self.unsettled += self.refused
            self.refused = []
        return stuck

    def rest(self, timeout_s: float) -> float:
        """A rest begins that is to last so long: how long it may be."""
        self.meanwhile()
        hurried = self.refused or self._hands.unbegun
        return min(timeout_s, WAITED_S) if hurried else timeout_s

    def forget(self) -> None:
        """Let go of all of it; it returns by its leases."""
        with self._lock:
            self._held.clear()

    # ---- steps -------------------------------------------------------------------------------

    def turn(self, want: Want | None, task_of: Callable[[Lease], Attempt]) -> Plan[int | None]:
        """Settle what has ended, claim what is wanted and have it handled: how many came, None
        where only ghosts were met. Raises the fault of a bus that does not serve; what is unsettled
        then is settled in a later turn: repeated, that is refused as stale or gone at worst."""
        ending, self.unsettled = self.unsettled, []
        self.turns += want is not None
        answers: list[Word | EchoMQError] = []
        if not ending:
            self.meanwhile()  # a claim that travels alone may take as long as it likes
        try:
            jobs = [(one.task.lease, one.verdict or Done()) for one in ending]
            answers, taken = yield from turn(self.q, jobs, self._policy, want, self.meanwhile)
        finally:
            self.meanwhile()
            if not answers:
                self.unsettled += ending
        fault = self._said(ending, answers)
        full = False
        if taken and not isinstance(taken, EchoMQError):
            self._hold(taken, task_of)
            assert want is not None
            full = len(taken) == want.size
        if not full or fault is not None or not self._ahead.room:
            self.meanwhile()  # nobody knows when the next turn comes
        if isinstance(taken, EchoMQError):
            raise taken
        if fault is not None:
            raise fault
        return None if taken is None else len(taken)

    def _hold(self, taken: Sequence[Lease], task_of: Callable[[Lease], Attempt]) -> None:
        fresh = {held_by(lease): InHand(task_of(lease)) for lease in taken}
        with self._lock:
            self._held.update(fresh)
        self._ungiven += fresh.values()

    def give_back(self) -> Plan[None]:
        """Let others have what no handler has begun; where that fails it returns by its lease."""
        ungiven, self._ungiven = self._ungiven, []
        back = [one.task.lease for one in (*self._hands.take_back(), *ungiven)]
        if not back:
            return
        try:
            yield from give_back(self.q, back)
        except EchoMQError as fault:
            _log.info("%d jobs return by their leases: %s", len(back), fault)
        finally:
            with self._lock:
                for lease in back:
                    self._held.pop(held_by(lease), None)

    def beat(self, quiet: bool) -> Plan[None]:
        """Renew the leases in hand, tell handlers whose lease was lost, and say that the worker
        lives."""
        with self._lock:
            held = dict(self._held)
        for proof in (yield from extend_all(self.q, held, self._lease_ms)):
            one = held[proof]
            # One that has its verdict is being settled at this moment.
            if proof in self._held and not one.decided and not one.task.lost:
                one.task.lose("lost")
                _log.warning("the lease of %r was lost while it was handled", one.task.id)
        yield from self.presence.heartbeat(self.in_hand, quiet)

    # ---- what settles answered ---------------------------------------------------------------

    def _said(self, ending: list[InHand], answers: list[Word | EchoMQError]) -> EchoMQError | None:
        """Take in what the settles answered. A fault of the bus is handed on; one of a single
        job, a row that is none, say, makes that job wait and nothing else."""
        first = None
        settled = self._unnoted
        for one, answer in zip(ending, answers, strict=False):
            if not isinstance(answer, EchoMQError):
                settled.append((one, answer))
            elif isinstance(answer, UnavailableError | UnknownOutcomeError):
                self.unsettled.append(one)
                first = first or answer
            else:
                self.refused.append(one)
                wait_s = self._refusals.met(answer, quoted(one.task.id))
                self._again_at = time.monotonic() + wait_s
        with self._lock:
            for one, _ in settled:
                self._held.pop(held_by(one.task.lease), None)
        return first

    def meanwhile(self) -> None:
        """Have handled what a turn has brought, and note what it has settled. Where handlers are
        quick and all came that was wanted, another turn follows at once: all of this is left until
        it is sent, and done while the server works. Whoever rests does it before that."""
        given, self._ungiven = self._ungiven, []
        for one in given:
            self._hands.give(one)
        self.note()

    def note(self) -> None:
        """Count and tell what has been settled."""
        settled, self._unnoted = self._unnoted, []
        for one, word in settled:
            self._settled(one, word)

    def _settled(self, one: InHand, word: Word) -> None:
        lease, verdict = one.task.lease, one.verdict or Done()
        event = _EVENTS[type(verdict)]
        if OUTCOME_OF[word] is not Outcome.done:
            event = "job.lost"
            _log.warning("%r was no longer ours when it ended: %s", lease.id, word.value)
        if self._refusals.stands:
            self._refusals.over(quoted(lease.id))
        self._ahead.ran(one.run_ms)
        waited = waited_ms(lease, self._lease_ms)
        self.presence.ran(waited, one.run_ms)
        if telemetry.heard(event):
            telemetry.emit(
                event, queue=self.q.name, job_id=lease.id, attempts=lease.attempts, word=word.value,
                duration_ms=one.run_ms, waited_ms=waited, reason=getattr(verdict, "reason", None),
            )  # fmt: skip
