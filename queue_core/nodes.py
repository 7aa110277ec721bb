"""A node number of one's own: taken on the bus for a while, renewed while it mints.

Two processes that mint under one number can mint the same id. A process that is given no number
leases one: `echomq:py:node:<n>`, n in 512..1023, for 60 s. It mints only while its lease is
younger than 40 s by its own monotonic clock, so that a process that slept through its lease
never mints under a number that another may have by now.

The instant in an id is the server's, as the last renewal told it and the monotonic clock carried
it on, never ahead of the server. Were it the host's, the next owner of a number, on a host whose
clock is behind, would mint again what the last one minted. A number is free only once the
server's clock is past all that was minted under it.
"""

from __future__ import annotations

import os
import random
import secrets
import socket
import threading
import time
import weakref
from collections.abc import Callable

from queue_core.errors import EchoMQError, InvalidError, UnavailableError
from queue_core.ids import MAX_NODE, Minter
from queue_core.keys import node_lease
from queue_core.outcomes import Word
from queue_core.plans import Batch, Call, Plan, Reply
from queue_core.replies import word
from queue_core.scripts import script

FIRST, LAST = 512, MAX_NODE
"""Below lie the numbers that are given by hand, and those that Elixir's nodes hash to."""

LEASE_MS = 60_000
USABLE_S = LEASE_MS / 1000 * 2 / 3
RENEW_S = LEASE_MS / 1000 / 3

TRIED_AT_ONCE = 16

_RENEW = script("node_renew")
_RELEASE = script("node_release")

_all: weakref.WeakSet[NodeLease] = weakref.WeakSet()
_of_bus: weakref.WeakKeyDictionary[object, NodeLease] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def lease_of(bus: object) -> NodeLease:
    """The lease that everybody in this process shares who mints for one bus and was given no
    number. Nothing is taken before the first mint. A program that ends in order may give the
    number back, `bus.run(lease_of(bus).release())`; else it is free again after `LEASE_MS`."""
    with _lock:
        return _of_bus.setdefault(bus, NodeLease())


class NodeLease:
    """Mints ids under a leased number. Safe to share by threads.

    `first` and `last` bound the numbers it may take.
    """

    def __init__(
        self,
        first: int = FIRST,
        last: int = LAST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not 0 <= first <= last <= MAX_NODE:
            raise InvalidError(f"node numbers lie in 0..{MAX_NODE}, got {first}..{last}")
        self._first, self._last = first, last
        self._clock = clock
        self._since = 0.0
        self._told = (0, 0.0)  # one word of the server, whole for whoever reads it
        self.forked()
        _all.add(self)

    def forked(self) -> None:
        """Leave the number to the parent, who goes on minting under it."""
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._minter: Minter | None = None
        self._minters: dict[int, Minter] = {}
        self._lock = threading.Lock()

    @property
    def node(self) -> int | None:
        """The number held, None before the first mint."""
        minter = self._minter
        return None if minter is None else minter.node

    def mint(self, namespace: bytes | str = b"JOB") -> Plan[bytes]:
        """A fresh id; a round trip only where the lease must be taken or renewed.
        `UnavailableError` with code NONODE where every number is taken."""
        minter = self._minter
        if minter is None or self._clock() - self._since >= RENEW_S:
            minter = yield from self._hold()
        return minter.mint(namespace)

    def release(self) -> Plan[None]:
        """Give the number back; nothing is minted under it any more."""
        with self._lock:
            minter, self._minter = self._minter, None
        if minter is not None:
            yield _RELEASE.call((node_lease(minter.node),), self._owner, minter.last_ms)

    def _hold(self) -> Plan[Minter]:
        """Renew the number, or take another where it was lost."""
        minter = self._minter
        if minter is not None and self._clock() - self._since < USABLE_S:
            asked = self._clock()
            reply = yield self._ask(minter.node)
            if word(reply) is Word.ok:
                with self._lock:
                    self._since = max(self._since, asked)
                    self._told = (int(reply[1]), self._clock())
                return minter
        return (yield from self._take())

    def _take(self) -> Plan[Minter]:
        """Try numbers in a random order, first one, then a few in each round trip; the spare
        ones go back."""
        numbers = list(range(self._first, self._last + 1))
        random.shuffle(numbers)
        size = 1
        while numbers:
            tried, numbers, size = numbers[:size], numbers[size:], TRIED_AT_ONCE
            asked = self._clock()
            ours = _ours(tried, (yield Batch(tuple(map(self._ask, tried)))))
            answered = self._clock()
            if ours:
                yield from self._give_back([node for node, _ in ours[1:]])
                return self._start(*ours[0], asked, answered)
        raise UnavailableError("NONODE", f"node numbers {self._first}..{self._last} are all taken")

    def _ask(self, node: int) -> Call:
        """The renewal of a number, which tells what was minted under it."""
        known = self._minters.get(node)
        last_ms = 0 if known is None else known.last_ms
        return _RENEW.call((node_lease(node),), self._owner, LEASE_MS, last_ms)

    def _server_ms(self) -> int:
        """The server's clock, behind it by the time that its last answer took to arrive. It stands
        still where the lease ends: a process may be stopped between looking at it and here."""
        told_ms, answered = self._told
        return told_ms + int(min(self._clock() - answered, USABLE_S) * 1000)

    def _start(self, node: int, told_ms: int, asked: float, answered: float) -> Minter:
        """Mint under a number, ever rising also where it was ours before."""
        with self._lock:
            self._told = (told_ms, answered)
            self._minter = self._minters.setdefault(node, Minter(node, self._server_ms))
            self._since = asked
            return self._minter

    def _give_back(self, numbers: list[int]) -> Plan[None]:
        """Spare numbers, under which this process mints nothing now."""
        calls = [
            _RELEASE.call(
                (node_lease(n),), self._owner, self._minters[n].last_ms if n in self._minters else 0
            )
            for n in numbers
        ]
        if calls:
            yield Batch(tuple(calls))


def _ours(tried: list[int], replies: list[Reply | EchoMQError]) -> list[tuple[int, int]]:
    """The numbers that were free, each with the server's ms as it was taken; a fault where none
    was and something went wrong."""
    faults = [reply for reply in replies if isinstance(reply, EchoMQError)]
    ours = [
        (node, int(reply[1]))
        for node, reply in zip(tried, replies, strict=True)
        if not isinstance(reply, EchoMQError) and word(reply) is Word.ok
    ]
    if faults and not ours:
        raise faults[0]
    return ours


def _forked() -> None:
    for lease in _all:
        lease.forked()
    _lock.release()


# Nobody else holds the lock at the moment of a fork, else the child would wait for ever.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_forked)
