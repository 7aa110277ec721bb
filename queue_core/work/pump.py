"""What time drives, for some queues: due jobs, ended leases, repeats, the outbox of flows.

Several pumps of ours on one queue are safe: each step is one idempotent script. Beside an
Elixir pump one is not (protocol part 10, row 35): one engine pumps a queue.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from queue_core.errors import EchoMQError
from queue_core.keys import QueueKeys
from queue_core.nodes import lease_of
from queue_core.outcomes import Word
from queue_core.plans import Batch, Call, Plan
from queue_core.verbs import due, flows, repeats
from queue_core.work.task import Runs
from queue_core.work.trouble import Trouble

TICK_MS = 250
BATCH = 100
ROUNDS = 20
"""Batches of one queue in one sweep, so that one queue's backlog holds up no other."""

MAX_STALLED = 3
"""A job whose worker dies this often is dead: it would kill every worker (part 10, row 14)."""

LEAST_MS = 5
MINTS = 3
"""Ids tried for one run of a repeat, should two minters share a number."""


_log = logging.getLogger(__name__)


def sweep(
    q: QueueKeys, mint: Callable[[], Plan[bytes]], max_stalled: int = MAX_STALLED
) -> Plan[int]:
    """One sweep of a queue. Answers how many ms until its next due score, `TICK_MS` at most, 0
    where more is due already."""
    now_ms = yield from _now()
    more = yield from _promote(q)
    _recovered, dead = yield from due.check_stalled(q, max_stalled)
    for job_id in dead:
        _log.error("%r is dead after its worker died %d times", job_id, max_stalled)
    yield from _fire(q, mint, now_ms)
    yield from flows.deliver(q, BATCH)
    return 0 if more else (yield from _until_next(q))


def _now() -> Plan[int]:
    seconds, micros = yield Call("TIME")
    return int(seconds) * 1000 + int(micros) // 1000


def _promote(q: QueueKeys) -> Plan[bool]:
    """Promote what is due; whether there may be more."""
    for _ in range(ROUNDS):
        if (yield from due.promote(q, BATCH)) < BATCH:
            return False
    return True


def _fire(q: QueueKeys, mint: Callable[[], Plan[bytes]], now_ms: int) -> Plan[None]:
    for one in (yield from repeats.due(q, BATCH, now_ms)):
        for _ in range(MINTS):
            job_id = yield from mint()
            word = yield from repeats.repeat_fire(q, one.name, one.score, job_id)
            if word is not Word.duplicate:
                break
        if word in (Word.paused, Word.invalid, Word.absent):
            _log.warning("the repeat %r of %r did not run: %s", one.name, q.name, word.value)


def _until_next(q: QueueKeys) -> Plan[int]:
    heads = yield Batch(
        tuple(Call("ZRANGE", (key,), (0, 0, "WITHSCORES")) for key in (q.schedule, q.repeat))
    )
    now_ms = yield from _now()
    waits = [TICK_MS]
    for head in heads:
        if isinstance(head, EchoMQError):
            raise head
        if head:
            waits.append(int(min(float(head[1]) - now_ms, TICK_MS)))
    return max(LEAST_MS, min(waits))


class Pump:
    """Sweeps its queues until `stop`. `mint` plans the ids of what repeats admit, by default under
    the node number that is leased on the bus. A job whose worker died `max_stalled` times is
    dead."""

    def __init__(
        self,
        bus: Runs,
        queues: Sequence[QueueKeys],
        mint: Callable[[], Plan[bytes]] | None = None,
        max_stalled: int = MAX_STALLED,
    ) -> None:
        self._bus = bus
        self._queues = list(queues)
        self._mint = lease_of(bus).mint if mint is None else mint
        self._max_stalled = max_stalled
        self._stopping = threading.Event()
        self._trouble = {q.name: Trouble(f"pump of {q.name!r}", _log) for q in queues}

    def stop(self) -> None:
        """End after the sweep under way."""
        self._stopping.set()

    def run(self) -> None:
        """Sweep until `stop`; trouble with the server is waited out."""
        wait_ms = 0
        while not self._stopping.wait(wait_ms / 1000):
            wait_ms = min((self._sweep(q) for q in self._queues), default=TICK_MS)

    def _sweep(self, q: QueueKeys) -> int:
        trouble = self._trouble[q.name]
        try:
            wait_ms = self._bus.run(sweep(q, self._mint, self._max_stalled))
        except EchoMQError as fault:
            return int(trouble.met(fault) * 1000)
        trouble.over()
        return wait_ms
