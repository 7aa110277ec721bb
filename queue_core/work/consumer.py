"""A worker of one queue: claims from the ring and from flat pending, runs the handler in threads,
settles under the lease's token.

The thread that calls `run` is the only one that settles and claims: what has ended and what comes
next travel together, in one round trip, and where handlers are quick, jobs are taken ahead of them.
With nothing to do it rests on a watch, which hears of new work at once. `concurrency` threads
handle; one beats: it extends the leases in hand and says on the bus that the worker lives; one
limits the handlers' time, where it is limited. Trouble with the server ends none of them. A job
whose worker dies comes back when its lease ends, by a pump.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Protocol

from queue_core.errors import EchoMQError, UnavailableError, UnknownOutcomeError
from queue_core.keys import queue
from queue_core.outcomes import Word
from queue_core.watches import Watch, Watches
from queue_core.work.backoff import exponential, jitter
from queue_core.work.hands import Handler, Hands, InHand
from queue_core.work.presence import Presence, worker_id
from queue_core.work.serving import Held, Policy, extend_all, held_by, waited_ms
from queue_core.work.task import Runs, Task
from queue_core.work.trouble import Trouble
from queue_core.work.turns import Ahead, Want, give_back, look, turn
from queue_core.work.verdicts import Done

LEASE_MS = 30_000
BEAT_MS = 1_000
HEARD_BEATS = 5
"""Beats between two looks where the server tells of changes: the look is for what it cannot tell,
a window of a rate limit that ends, say."""

HEARTBEAT_S = 4.0
DRAIN_S = 15.0
AHEAD = 64
WAITED_S = 1.0
"""Where no handler has ended for so long, jobs that none has begun are given back for others."""

DEFAULT_POLICY = Policy(jitter(exponential(1_000, 60_000)), max_attempts=3)


class Serves(Runs, Watches, Protocol):
    """A blocking bus that gives watches."""


_log = logging.getLogger(__name__)


class Consumer:
    """Serves one queue until `stop`.

    `handler` takes a `Task` and answers a `Verdict`, or None for done; what it raises is the
    attempt's failure. `lease_ms` is how long a claim holds without a beat. `beat_ms` is how long
    it rests where nothing waits and the server does not tell of changes; where it does, work is
    heard of at once and looked for every `HEARD_BEATS` beats. `drain_s` is what the jobs in hand
    get to end after `stop`.

    `ahead` bounds the jobs that it holds beyond `concurrency` while handlers take a few ms only
    (0: none). They are leased like the others, none of them was ever tried before, and those that
    no handler starts are given back, after `WAITED_S` and at `stop`.

    `weighted` takes each lane's weight of jobs in its turn of the ring, not one.

    A handler that runs over `timeout_ms` (None: no limit) fails its attempt at that moment, and
    what it answers later counts for nothing. Its thread cannot be ended from outside:
    `task.cancel` is asked, and until the handler looks at it and returns it keeps its place of
    `concurrency`.
    """

    def __init__(
        self,
        bus: Serves,
        name: bytes | str,
        handler: Handler,
        *,
        concurrency: int = 1,
        lease_ms: int = LEASE_MS,
        beat_ms: int = BEAT_MS,
        policy: Policy = DEFAULT_POLICY,
        drain_s: float = DRAIN_S,
        timeout_ms: int | None = None,
        ahead: int = AHEAD,
        weighted: bool = False,
        label: str = "",
    ) -> None:
        self.q = queue(name)
        self.worker = worker_id(label)
        self._bus = bus
        self._concurrency = concurrency
        self._lease_ms = lease_ms
        self._beat_ms = beat_ms
        self._policy = policy
        self._drain_s = drain_s
        self._weighted = weighted
        self._presence = Presence(self.q, self.worker, concurrency)
        self._ahead = Ahead(concurrency, ahead)
        self._watch: Watch = bus.watch(self.q.pending)
        self._look = look(self.q)
        self._hands = Hands(handler, concurrency, timeout_ms, self._told)
        self._held: dict[Held, InHand] = {}
        self._lock = threading.Lock()
        self._unsettled: list[InHand] = []
        self._refused: list[InHand] = []
        self._refusals = Trouble(f"settle on {self.q.name!r}", _log)
        self._again_at = 0.0
        self._moved_at = 0.0
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._quiet = threading.Event()
        self._resting = False
        self._turn = 0

    # ---- what others may ask -----------------------------------------------------------------

    def stop(self) -> None:
        """Claim nothing more; `run` returns when the jobs in hand are settled."""
        self._stopping.set()
        self._watch.nudge()

    def quiet(self, on: bool = True) -> None:
        """Claim nothing more, but stay; or go on."""
        if on:
            self._quiet.set()
        else:
            self._quiet.clear()
        self._watch.nudge()

    @property
    def in_hand(self) -> int:
        """Jobs claimed and not settled yet."""
        return len(self._held)

    # ---- the loop ----------------------------------------------------------------------------

    def run(self) -> bool:
        """Serve until `stop`. Answers whether every job in hand was settled in time; what was
        not comes back when its lease ends."""
        beater = threading.Thread(target=self._beat, name=f"beat {self.worker!r}", daemon=True)
        beater.start()
        self._hands.start()
        try:
            self._serve()
            drained = self._drain()
        finally:
            self._ended.set()
            self._hands.end()
            self._watch.close()
        beater.join(2 * HEARTBEAT_S)
        return drained

    def _serve(self) -> None:
        """Take turns. `short`: the last claim found less than it wanted, so that the watch is set
        before the next one; `dry`: that one found nothing, so only a change makes another worth
        its while."""
        trouble = Trouble(f"consumer of {self.q.name!r}", _log)
        short, dry, beat_at = True, False, 0.0
        while not self._stopping.is_set():
            now = self._collect()
            dry = dry and now < beat_at
            want = None if dry else self._want()
            if want is None and not self._unsettled:
                heard = self._rest(beat_at - now if dry else self._beat_ms / 1000, dry)
                dry = dry and not heard
                continue
            try:
                if want is not None and short:
                    self._watch.look(self._look)
                    beat_at = time.monotonic() + self._rest_s
                taken = self._take_turn(want)
            except EchoMQError as fault:
                self._stopping.wait(trouble.met(fault))
                short, dry = True, False
                continue
            trouble.over()
            if want is not None and taken is not None:
                dry = short and not taken
                short = taken < want.size

    def _drain(self) -> bool:
        """Give back what was not begun, and settle what is in hand while there is time."""
        trouble = Trouble(f"end of {self.q.name!r}", _log)
        deadline = time.monotonic() + self._drain_s
        self._give_back()
        while (now := self._collect()) < deadline and self._held:
            if not self._unsettled:
                self._rest(deadline - now, False)
                continue
            try:
                self._take_turn(None)
            except EchoMQError as fault:
                self._ended.wait(min(trouble.met(fault), deadline - now))
        if self._held:
            _log.error("%d jobs are left unsettled; they return by lease", len(self._held))
        return not self._held

    @property
    def _rest_s(self) -> float:
        return self._beat_ms * (HEARD_BEATS if self._watch.tracks else 1) / 1000

    def _want(self) -> Want | None:
        """What there is room for, if anything."""
        free = self._concurrency - self._hands.out
        size = free + self._ahead.room
        if size < 1 or self._quiet.is_set():
            return None
        self._turn += 1
        sure = max(0, free)
        return Want(size, sure, self._lease_ms, self.worker, self._turn, self._weighted)

    def _take_turn(self, want: Want | None) -> int | None:
        """Settle what has ended and claim what is wanted: how many came, None where only ghosts
        were met. Raises the fault of a bus that does not serve; what is unsettled then is settled
        in a later turn: repeated, that is refused as stale or gone at worst."""
        ending, self._unsettled = self._unsettled, []
        answers: list[Word | EchoMQError] = []
        try:
            jobs = [(one.task.lease, one.verdict or Done()) for one in ending]
            answers, taken = self._bus.run(turn(self.q, jobs, self._policy, want))
        finally:
            if not answers:
                self._unsettled += ending
        fault = self._note(ending, answers)
        if isinstance(taken, EchoMQError):
            raise taken
        for lease in taken or ():
            one = InHand(Task(self._bus, self.q, lease))
            with self._lock:
                self._held[held_by(lease)] = one
            self._hands.give(one)
        if fault is not None:
            raise fault
        return None if taken is None else len(taken)

    def _note(self, ending: list[InHand], answers: list[Word | EchoMQError]) -> EchoMQError | None:
        """Take note of what the settles answered. A fault of the bus is handed on; one of a single
        job, a row that is none, say, makes that job wait and nothing else."""
        first = None
        for one, answer in zip(ending, answers, strict=False):
            if isinstance(answer, UnavailableError | UnknownOutcomeError):
                self._unsettled.append(one)
                first = first or answer
            elif isinstance(answer, EchoMQError):
                self._refused.append(one)
                self._again_at = time.monotonic() + self._refusals.met(answer)
            else:
                self._settled(one, answer)
        return first

    def _settled(self, one: InHand, word: Word) -> None:
        lease = one.task.lease
        if word in (Word.stale, Word.gone):
            _log.warning("%r was no longer ours when it ended: %s", lease.id, word.value)
        self._ahead.ran(one.run_ms)
        self._presence.ran(waited_ms(lease, self._lease_ms), one.run_ms)
        with self._lock:
            self._held.pop(held_by(lease), None)

    def _collect(self) -> float:
        """Take over what has ended, and give back what nobody begins; answers the time."""
        now = time.monotonic()
        ended = self._hands.ended()
        if ended or not self._hands.unbegun:
            self._moved_at = now
        elif now - self._moved_at > WAITED_S:
            self._ahead.forget()
            self._give_back()
        self._unsettled += ended
        if self._refused and now >= self._again_at:
            self._unsettled += self._refused
            self._refused = []
        return now

    def _give_back(self) -> None:
        """Let others have what no handler has begun; where that fails it returns by its lease."""
        back = [one.task.lease for one in self._hands.take_back()]
        if not back:
            return
        try:
            self._bus.run(give_back(self.q, back))
        except EchoMQError as fault:
            _log.warning("%d jobs return by their leases: %s", len(back), fault)
        with self._lock:
            for lease in back:
                self._held.pop(held_by(lease), None)

    # ---- rest --------------------------------------------------------------------------------

    def _rest(self, timeout_s: float, dry: bool) -> bool:
        """Wait until a handler has ended or somebody nudges; where it is `dry`, also for new work.
        Whether there may be some."""
        if self._hands.unbegun or self._refused:
            timeout_s = min(timeout_s, WAITED_S)
        self._resting = True
        try:
            if self._hands.waiting():
                return False
            return bool(self._watch.wait(timeout_s, self.q.wake if dry else None))
        except EchoMQError as fault:
            _log.info("looking again: %s", fault)
            return True
        finally:
            self._resting = False

    def _told(self) -> None:
        """Called by the threads of handlers."""
        if self._resting:
            self._resting = False
            self._watch.nudge()

    # ---- the beat ----------------------------------------------------------------------------

    def _beat(self) -> None:
        every_s = min(HEARTBEAT_S, self._lease_ms / 3000)
        trouble = Trouble(f"beat on {self.q.name!r}", _log)
        while True:
            wait_s = every_s
            try:
                self._extend()
                quiet = self._quiet.is_set() or self._stopping.is_set()
                self._bus.run(self._presence.heartbeat(self.in_hand, quiet))
                trouble.over()
            except EchoMQError as fault:
                wait_s = min(every_s, trouble.met(fault))
            if self._ended.wait(wait_s):
                break
        try:
            self._bus.run(self._presence.leave())
        except EchoMQError:
            _log.debug("the bus was not told of the end of %r", self.worker)

    def _extend(self) -> None:
        with self._lock:
            held = dict(self._held)
        for proof in self._bus.run(extend_all(self.q, held, self._lease_ms)):
            task = held[proof].task
            # One that has its verdict is being settled at this moment.
            if proof in self._held and not held[proof].decided and not task.lost:
                task.lose("lost")
                _log.warning("the lease of %r was lost while it was handled", task.id)
