"""What time drives, for some queues: due jobs, ended leases, repeats, the outbox of flows.

A pump sleeps until something is next due, and is woken where something earlier is scheduled
meanwhile, whoever does it. Several pumps of ours on one queue are safe: each step is one
idempotent script. Beside an Elixir pump one is not (protocol part 10, row 35): one engine pumps a
queue.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from queue_core import numbers
from queue_core.async_watches import AsyncWatches
from queue_core.errors import EchoMQError, InvalidError
from queue_core.keys import QueueKeys
from queue_core.nodes import lease_of
from queue_core.outcomes import Word
from queue_core.plans import Call, Plan, Reply, single
from queue_core.quoting import WHOLE, quoted
from queue_core.scripts import script
from queue_core.verbs import due, flows, repeats
from queue_core.watches import ANY, Watch, Watches, wait_any
from queue_core.work.flags import Flag, Once
from queue_core.work.task import AsyncRuns, Runs
from queue_core.work.trouble import Trouble, Troubled, name_of

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

    @property
    def shards(self) -> bool:
        """Whether its keys are, or may come to be, on several servers."""


class AsyncDrives(AsyncRuns, AsyncWatches, Protocol):
    """An awaited bus that gives watches and knows its servers."""

    @property
    def shards(self) -> bool:
        """Whether its keys are, or may come to be, on several servers."""


@dataclass(frozen=True, slots=True)
class Due:
    """When time next has work in a queue, in ms of the server's clock: its schedule and its
    repeats, None where there is none; and how many deliveries of flows wait. `past_us` of the ms
    that runs have passed: due is what a whole ms has reached."""

    now_ms: int
    scheduled: float | None
    repeated: float | None
    deliveries: int
    past_us: int = 0

    @property
    def soonest_ms(self) -> float:
        """When that is, endless where nothing is in sight."""
        heads = (self.scheduled, self.repeated)
        return min((head for head in heads if head is not None), default=math.inf)

    @property
    def wait_ms(self) -> float:
        """How long until it has, 0 where it has now, endless where nothing is in sight."""
        soonest = self.soonest_ms
        if self.deliveries or soonest <= self.now_ms:
            return 0
        whole = soonest if soonest == math.inf else math.ceil(soonest)
        return whole - self.now_ms - self.past_us / 1000


def look(q: QueueKeys) -> Call:
    """The read that answers what is next due; `due_of` reads its reply."""
    return _NEXT_DUE.call((q.schedule, q.repeat, q.outbox), q.base)


def due_of(reply: Reply) -> Due:
    """What a look found."""
    now_ms, scheduled, repeated, deliveries, past_us = reply
    return Due(now_ms, _score(scheduled), _score(repeated), deliveries, past_us)


def _score(text: bytes | None) -> float | None:
    return None if text is None else float(text)


def return_stalled(q: QueueKeys, max_stalled: int) -> Plan[None]:
    """Let jobs wait again whose leases have ended, all of them, in bounded steps: what expired
    first hides nothing that stands behind it (part 10, row 15)."""
    for _ in range(ROUNDS):
        recovered, dead = yield from due.check_stalled(q, max_stalled, BATCH)
        for job_id in dead:
            _log.error("%r is dead after its worker died %d times", job_id, max_stalled)
        if len(recovered) + len(dead) < BATCH:
            return


def do_due(q: QueueKeys, mint: Mint, found: Due) -> Plan[None]:
    """Do what a look found to be due, in bounded steps; there may be more."""
    if found.scheduled is not None and found.scheduled <= found.now_ms:
        for _ in range(ROUNDS):
            if (yield from due.promote(q, BATCH)) < BATCH:
                break
    if found.deliveries:
        yield from flows.deliver(q, BATCH)
    if found.repeated is not None and found.repeated <= found.now_ms:
        yield from _fire(q, mint, found.now_ms)  # last: a server without memory refuses this alone


def _fire(q: QueueKeys, mint: Mint, now_ms: int) -> Plan[None]:
    for one in (yield from repeats.due(q, BATCH, now_ms)):
        for _ in range(MINTS):
            job_id = yield from mint()
            word = yield from repeats.repeat_fire(q, one.name, one.score, job_id)
            if word is not Word.duplicate:
                break
        if word in (Word.paused, Word.invalid, Word.absent):
            _log.warning("the repeat %r of %r did not run: %s", one.name, q.name, word.value)


class Turn:
    """When one queue is looked at next, and when for ended leases (monotonic, s). `coming` is what
    will be due then, as far as is known: it is promoted without looking first, by a script that
    asks the server's clock itself."""

    def __init__(self, q: QueueKeys) -> None:
        self.q = q
        self.call = look(q)
        self.leases_at = 0.0
        self.coming: Due | None = None
        self._keys = frozenset({q.schedule, q.repeat, q.outbox, ANY})
        self._looked_at = -1.0
        self._look_at = 0.0
        self._not_before = 0.0

    @property
    def at(self) -> float:
        """When something is to be done."""
        return min(self._look_at, self.leases_at)

    def is_due(self, now: float) -> bool:
        """Whether it is to be looked at."""
        return now >= self._look_at

    def looked(self, found: Due, told: bool) -> None:
        """It was looked at just now; by a line that will be `told` of changes, or not."""
        most = HEARD_MS if told else TICK_MS
        wait_ms = min(found.wait_ms, most)
        self._looked_at = time.monotonic()
        self._look_at = self._looked_at + wait_ms / 1000
        self.coming = None
        if 0 < wait_ms < most and found.scheduled == found.soonest_ms:
            self.coming = replace(found, now_ms=math.ceil(found.soonest_ms), past_us=0)

    def hear(self, changed: Collection[bytes]) -> None:
        """Look soon where something of the queue has changed."""
        if not self._keys.isdisjoint(changed):
            soon = max(self._looked_at + GAP_MS / 1000, self._not_before)
            self._look_at = min(self._look_at, soon)
            self.coming = None

    def wait(self, seconds: float) -> None:
        """Do nothing for so long, whatever is heard meanwhile."""
        self.coming = None
        self._look_at = self.leases_at = self._not_before = time.monotonic() + seconds


def kept(queues: Sequence[QueueKeys]) -> list[QueueKeys]:
    """The queues of a pump. `InvalidError` for a name in place of its keys."""
    if not isinstance(queues, Sequence) or any(not isinstance(q, QueueKeys) for q in queues):
        raise InvalidError(f"a pump takes a list of queues' keys, `queue(name)`, got {queues!r}")
    return list(queues)


def lines_of(queues: Sequence[QueueKeys], bus: Drives | AsyncDrives) -> list[bytes]:
    """For each queue the name of its line: on one server a line hears of all keys, in a Cluster of
    those of its own node, and where a queue's slot is may change."""
    return [q.name if bus.shards else b"" for q in queues]


class Pump(Troubled):
    """Sweeps its queues until `stop`. `mint` plans the ids of what repeats admit, by default under
    the node number that is leased on the bus. A job whose worker died `max_stalled` times is
    dead.

    `faults` counts what the bus could not serve; `telemetry` tells of each.
    """

    def __init__(
        self,
        bus: Drives,
        queues: Sequence[QueueKeys],
        mint: Mint | None = None,
        max_stalled: int = MAX_STALLED,
    ) -> None:
        queues = kept(queues)
        self._bus = bus
        self._once = Once()
        self._mint: Mint = lease_of(bus).mint if mint is None else mint
        self._max_stalled = numbers.whole(max_stalled, "deaths of workers")
        self._stopping = Flag()
        self._trouble = Trouble(name_of("pump", [q.name for q in queues]), _log)
        names = lines_of(queues, bus)
        lines = {name: bus.watch(q.pending) for name, q in zip(names, queues, strict=True)}
        self._watches = list(lines.values())
        self._turns = [(Turn(q), lines[name]) for name, q in zip(names, queues, strict=True)]

    def stop(self) -> None:
        """End after the sweep under way."""
        self._stopping.set()
        for watch in self._watches[:1]:
            watch.nudge()

    def run(self) -> None:
        """Sweep until `stop`; trouble with the server is waited out."""
        self._once.begin()
        try:
            while not self._stopping.is_set() and self._turns:
                for turn, watch in self._turns:
                    self._take(turn, watch)
                self._rest()
        finally:
            for watch in self._watches:
                watch.close()

    def _take(self, turn: Turn, watch: Watch) -> None:
        """Do what is to be done in one queue now, if anything."""
        now, part = time.monotonic(), quoted(turn.q.name, WHOLE)
        if now < turn.at:
            return
        try:
            if now >= turn.leases_at:
                turn.leases_at = now + LEASES_MS / 1000
                self._bus.run(return_stalled(turn.q, self._max_stalled))
            if turn.is_due(now):
                self._look(turn, watch)
        except EchoMQError as fault:
            turn.wait(self._trouble.met(fault, part))
        else:
            self._trouble.over(part)

    def _look(self, turn: Turn, watch: Watch) -> None:
        known = turn.coming
        if known is None:
            known, told = self._next_due(turn, watch)
            if known.wait_ms:
                turn.looked(known, told)
                return
        self._bus.run(do_due(turn.q, self._mint, known))
        turn.looked(*self._next_due(turn, watch))

    def _next_due(self, turn: Turn, watch: Watch) -> tuple[Due, bool]:
        """What is next due, and whether a change of that will be told."""
        reply = watch.look(turn.call)
        told = reply is not None
        return due_of(reply if told else self._bus.run(single(turn.call))), told

    def _rest(self) -> None:
        """Sleep until the first of the queues has something to do, or hears of it. Whole ms are
        slept listening, the rest of one is not, since a wait for sockets ends on a whole ms."""
        soonest = min(turn.at for turn, _ in self._turns)
        whole, rest = divmod(max(0.0, soonest - time.monotonic()), 0.001)
        if not whole:
            time.sleep(rest)
            return
        try:
            changed = wait_any(self._watches, whole / 1000)
        except EchoMQError as fault:
            _log.debug("looking again: %s", fault)
            changed = [ANY]
        for turn, _ in self._turns if changed else ():
            turn.hear(changed)
