"""The vocabulary between verbs and buses: a verb is a plan that yields calls.

A plan is a generator. It yields a `Call`, a `Batch` or a `Wait`, is sent the reply, and
returns its result; a bus, blocking or awaited, drives it. Faults are thrown into the plan
at the yield. Plans compose with `yield from` and do no I/O of their own, so one text
serves sync, asyncio, standalone, Sentinel and Cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from queue_core.scripts import Script

Arg: TypeAlias = bytes | str | int | float
"""A word of a command. Text is sent as UTF-8, a number as its shortest decimal."""

Reply: TypeAlias = Any
"""What the server answered, in the one shape of `replies.py`: bytes, int, float, None,
or a list of these. A map comes as a flat list of field, value, field, value."""


class Call(NamedTuple):
    """One command or script call; one round trip alone, a share of one in a `Batch`.

    `name` is the server command, or the script's name when `script` is set. `keys` route it
    (all of one slot); `args` follow the keys. `node` addresses one primary of a Cluster by the
    name that `bus.primaries()` gave, for commands without a key; elsewhere it is ignored. A tuple,
    since one is made for every call, and a tuple is made fast.
    """

    name: str
    keys: tuple[bytes, ...] = ()
    args: tuple[Arg, ...] = ()
    script: Script | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Several calls in one round trip per node, not atomic. The reply is a list in the order
    of the calls; a call that failed stands there as its `EchoMQError`.

    `meanwhile` is work of the plan's own that may be done while the server works: a bus that can
    calls it once they are sent. It must not matter whether it is called, nor when."""

    calls: tuple[Call, ...]
    meanwhile: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """A blocking pop on a connection of its own: `BLPOP keys timeout`. The reply is
    `[key, value]`, or None when `timeout_ms` passed."""

    keys: tuple[bytes, ...]
    timeout_ms: int


Step: TypeAlias = Call | Batch | Wait
T = TypeVar("T")
Plan: TypeAlias = Generator[Step, Reply, T]


def single(call: Call) -> Plan[Reply]:
    """The plan of one call: its reply. Raises its fault."""
    return (yield call)
