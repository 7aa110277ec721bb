"""Which queues a bus holds: an incremental scan of a few milliseconds a step.

Names come from the fixed keys of queues alone, of the right type; no job, lane or repeat of one
queue can pass for another queue (`lua/reads/discover.lua`).
"""

from __future__ import annotations

from dataclasses import dataclass

from queue_core.errors import ContractError
from queue_core.names import RESERVED_QUEUE
from queue_core.plans import Arg, Call, Plan
from queue_core.scripts import script

PAGE = 500
ROUNDS = 3
"""At most 1,500 keys a step: about a millisecond of the server's time."""

_DISCOVER = script("reads/discover")

_SUFFIXES: tuple[Arg, ...] = (
    "pending", "zset", "active", "zset", "schedule", "zset", "dead", "zset", "repeat", "zset",
    "workers", "zset", "ring", "list", "wake", "list", "paused", "set", "glimit", "hash",
    "gactive", "hash", "gweight", "hash", "meta", "hash",
    "metrics:completed", "hash", "metrics:failed", "hash",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a scan: where to go on (b"0" when a pass is over) and the names it met."""

    cursor: bytes
    names: tuple[bytes, ...]


def discover(cursor: bytes = b"0", node: str | None = None) -> Plan[Step]:
    """Walk on from `cursor` on one primary. One round trip, at most `PAGE * ROUNDS` keys."""
    call = _DISCOVER.call((), cursor, PAGE, ROUNDS, *_SUFFIXES)
    reply = yield Call(call.name, (), call.args, call.script, node)
    if not reply:
        raise ContractError("discover answered nothing")
    names = tuple(name for name in reply[1:] if name != RESERVED_QUEUE)
    return Step(reply[0], names)
