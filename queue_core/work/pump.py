"""What time drives, for some queues: due jobs, ended leases, repeats, the outbox of flows.

A pump sleeps until something is next due, and is woken where something earlier is scheduled
meanwhile, whoever does it. Several pumps of ours on one queue are safe: each step is one
idempotent script. Beside an Elixir pump one is not (protocol part 10, row 35): one engine pumps a
queue.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from queue_core.errors import EchoMQError
from queue_core.keys import QueueKeys
from queue_core.nodes import lease_of
from queue_core.outcomes import Word
from queue_core.plans import Call, Plan, Reply
from queue_core.scripts import script
from queue_core.verbs import due, flows, repeats
from queue_core.watches import ANY, Watch, Watches, wait_any
from queue_core.work.task import Runs
from queue_core.work.trouble import Trouble

TICK_MS = 250
"""Between two looks at a queue where the server does not tell of changes."""

HEARD_MS = 5_000
"""The same where it does: only for what it could not tell."""

LEASES_MS = 1_500
"""How often ended leases are looked for."""

GAP_MS = 2
"""Between two looks at one queue, however often its schedule changes."""

BATCH = 100
ROUNDS = 20
"""Batches of one queue in one sweep, so that one queue's backlog holds up no other."""

MAX_STALLED = 3
"""A job whose worker dies this often is dead: it would kill every worker (part 10, row 14)."""

MINTS = 3
"""Ids tried for one run of a repeat, should two minters share a number."""

Mint = Callable[[], Plan[bytes]]

_NEXT_DUE = script("reads/next_due")
_log = logging.getLogger(__name__)


class Drives(Runs, Watches, Protocol):
    """A blocking bus that gives watches and knows its servers."""

    def primaries(self) -> tuple[str, ...]:
        """The names of the nodes that write."""


@dataclass(frozen=True, slots=True)
class Due:
    """When time next has work in a queue, in ms of the server's clock: its schedule and its
    repeats, None where there is none; and how many deliveries of flows wait."""

    now_ms: int
    scheduled: float | None
    repeated: float | None
    deliveries: int

    @property
    def wait_ms(self) -> float | None:
        """How long until it has, 0 where it has now, None where nothing is in sight."""
        if self.deliveries:
            return 0
        heads = [head for head in (self.scheduled, self.repeated) if head is not None]
        return max(0, min(heads) - self.now_ms) if heads else None


def look(q: QueueKeys) -> Call:
    """The read that answers what is next due; `due_of` reads its reply."""
    return _NEXT_DUE.call((q.schedule, q.repeat, q.outbox), q.base)


def due_of(reply: Reply) -> Due:
    """What a look found."""
    now_ms, scheduled, repeated, deliveries = reply
    return Due(now_ms, _score(scheduled), _score(repeated), deliveries)


def _score(text: bytes | None) -> float | None:
    return None if text is None else float(text)


def sweep(q: QueueKeys, mint: Mint, max_stalled: int = MAX_STALLED) -> Plan[int]:
    """One sweep of a queue. Answers how many ms until its next due score, `TICK_MS` at most, 0
    where more is due already."""
    yield from return_stalled(q, max_stalled)
    found = due_of((yield look(q)))
    if found.wait_ms == 0:
        yield from do_due(q, mint, found)
        found = due_of((yield look(q)))
    wait_ms = found.wait_ms
    return TICK_MS if wait_ms is None else min(int(wait_ms), TICK_MS)


def return_stalled(q: QueueKeys, max_stalled: int) -> Plan[None]:
    """Let jobs wait again whose leases have ended."""
    _recovered, dead = yield from due.check_stalled(q, max_stalled)
    for job_id in dead:
        _log.error("%r is dead after its worker died %d times", job_id, max_stalled)


def do_due(q: QueueKeys, mint: Mint, found: Due) -> Plan[None]:
    """Do what a look found to be due, in bounded steps; there may be more."""
    if found.scheduled is not None and found.scheduled <= found.now_ms:
        for _ in range(ROUNDS):
            if (yield from due.promote(q, BATCH)) < BATCH:
                break
    if found.repeated is not None and found.repeated <= found.now_ms:
        yield from _fire(q, mint, found.now_ms)
    if found.deliveries:
        yield from flows.deliver(q, BATCH)


def _fire(q: QueueKeys, mint: Mint, now_ms: int) -> Plan[None]:
    for one in (yield from repeats.due(q, BATCH, now_ms)):
        for _ in range(MINTS):
            job_id = yield from mint()
            word = yield from repeats.repeat_fire(q, one.name, one.score, job_id)
            if word is not Word.duplicate:
                break
        if word in (Word.paused, Word.invalid, Word.absent):
            _log.warning("the repeat %r of %r did not run: %s", one.name, q.name, word.value)


class _Turn:
    """When one queue is looked at next, and when for ended leases (monotonic, s)."""

    def __init__(self, q: QueueKeys, watch: Watch) -> None:
        self.q = q
        self.watch = watch
        self.call = look(q)
        self.keys = frozenset({q.schedule, q.repeat, q.outbox, ANY})
        self.trouble = Trouble(f"pump of {q.name!r}", _log)
        self.looked_at = -1.0
        self.look_at = 0.0
        self.leases_at = 0.0

    def hear(self, changed: list[bytes]) -> None:
        """Look soon where something of the queue has changed."""
        if not self.keys.isdisjoint(changed):
            self.look_at = min(self.look_at, self.looked_at + GAP_MS / 1000)


class Pump:
    """Sweeps its queues until `stop`. `mint` plans the ids of what repeats admit, by default under
    the node number that is leased on the bus. A job whose worker died `max_stalled` times is
    dead."""

    def __init__(
        self,
        bus: Drives,
        queues: Sequence[QueueKeys],
        mint: Mint | None = None,
        max_stalled: int = MAX_STALLED,
    ) -> None:
        self._bus = bus
        self._mint: Mint = lease_of(bus).mint if mint is None else mint
        self._max_stalled = max_stalled
        self._stopping = threading.Event()
        # On one server a line hears of all keys; in a Cluster of those of its own node.
        apart = len(bus.primaries()) > 1
        lines = {q.name if apart else b"": bus.watch(q.pending) for q in queues}
        self._watches = list(lines.values())
        self._turns = [_Turn(q, lines[q.name if apart else b""]) for q in queues]

    def stop(self) -> None:
        """End after the sweep under way."""
        self._stopping.set()
        for watch in self._watches[:1]:
            watch.nudge()

    def run(self) -> None:
        """Sweep until `stop`; trouble with the server is waited out."""
        try:
            while not self._stopping.is_set() and self._turns:
                for turn in self._turns:
                    self._take(turn)
                self._rest()
        finally:
            for watch in self._watches:
                watch.close()

    def _take(self, turn: _Turn) -> None:
        """Do what is to be done in one queue now, if anything."""
        now = time.monotonic()
        try:
            if now >= turn.leases_at:
                turn.leases_at = now + LEASES_MS / 1000
                self._bus.run(return_stalled(turn.q, self._max_stalled))
            if now >= turn.look_at:
                self._look(turn)
        except EchoMQError as fault:
            turn.look_at = turn.leases_at = time.monotonic() + turn.trouble.met(fault)
        else:
            turn.trouble.over()

    def _look(self, turn: _Turn) -> None:
        found = self._next_due(turn)
        if found.wait_ms == 0:
            self._bus.run(do_due(turn.q, self._mint, found))
            found = self._next_due(turn)
        most = HEARD_MS if turn.watch.tracks else TICK_MS
        wait_ms = most if found.wait_ms is None else min(found.wait_ms, most)
        turn.looked_at = time.monotonic()
        turn.look_at = turn.looked_at + max(wait_ms, wait_ms and 1) / 1000

    def _next_due(self, turn: _Turn) -> Due:
        reply = turn.watch.look(turn.call)
        return due_of(reply if reply is not None else self._bus.run(_one(turn.call)))

    def _rest(self) -> None:
        """Sleep until the first of the queues has something to do, or hears of it."""
        soonest = min(min(turn.look_at, turn.leases_at) for turn in self._turns)
        try:
            changed = wait_any(self._watches, soonest - time.monotonic())
        except EchoMQError as fault:
            _log.info("looking again: %s", fault)
            changed = [ANY]
        for turn in self._turns if changed else ():
            turn.hear(changed)


def _one(call: Call) -> Plan[Reply]:
    return (yield call)
