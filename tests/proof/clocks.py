"""Clocks that are wrong, step and run apart, and node leases lost and taken over.

Host and server share a machine here, and only their difference matters to either: so the host's
clocks are replaced and the server's stays. `skewed` runs a whole process under a wall clock that is
wrong, as Python sees it; here the clocks are replaced where the engine takes them. A server's clock
that steps ahead ends leases early: the hand that deletes one plays it.
"""

from __future__ import annotations

import time
from random import Random

from queue_core.bus import Bus
from queue_core.errors import UnavailableError
from queue_core.ids import Minter, decode
from queue_core.keys import node_lease
from queue_core.nodes import LEASE_MS, NodeLease
from queue_core.plans import Call, Plan

HOUR_MS = 3_600_000
FIRST, LAST = 600, 602
"""Few numbers, so that they go from hand to hand."""
HOSTS = 4


class Host:
    """A process on a host of its own: its monotonic clock jumps ahead where it sleeps."""

    def __init__(self) -> None:
        self.slept_s = 0.0
        self.last = b""
        self.holds = False
        self.lease = NodeLease(FIRST, LAST, lambda: time.monotonic() + self.slept_s)


def free(bus: Bus) -> None:
    """Take all numbers back from whoever had them."""

    def plan() -> Plan[None]:
        for node in range(FIRST, LAST + 1):
            yield Call("DEL", (node_lease(node),))

    bus.run(plan())


def clock(bus: Bus) -> int:
    """The server's clock in ms."""

    def plan() -> Plan[int]:
        seconds, micros = yield Call("TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    return bus.run(plan())


def expire(bus: Bus, host: Host) -> None:
    """Let a host sleep through its lease, as both clocks see it."""
    node = host.lease.node
    host.slept_s += LEASE_MS / 1000
    if host.holds and node is not None:
        host.holds = False
        bus.run(_delete(node))
        ended = clock(bus)
        while clock(bus) == ended:  # a lease ends long after the last mint, not in its ms
            pass


def _delete(node: int) -> Plan[None]:
    yield Call("DEL", (node_lease(node),))


def tamper(bus: Bus, moves: int, number: str) -> int:
    """So many moves of hosts that mint, sleep, stop, start anew and have wrong clocks; how many
    ids they minted. `AssertionError` where one was minted twice or not above the last."""
    free(bus)
    hand, minted = Random(number), set[bytes]()
    hosts = [Host() for _ in range(HOSTS)]
    for _ in range(moves):
        at = hand.randrange(HOSTS)
        host, way = hosts[at], hand.random()
        if way < 0.90:
            _mint(bus, host, minted)
        elif way < 0.94:
            expire(bus, host)
        elif way < 0.97:
            bus.run(host.lease.release())
            host.holds = False
        else:
            expire(bus, host)  # it died, and its lease ended with nobody to renew it
            hosts[at] = Host()
    minted |= _steps_back(hand, moves)
    free(bus)
    return len(minted)


def _mint(bus: Bus, host: Host, minted: set[bytes]) -> None:
    try:
        job_id = bus.run(host.lease.mint())
    except UnavailableError as fault:
        if fault.code != "NONODE":
            raise
        return
    assert job_id not in minted, f"{job_id!r} was minted twice"
    now_ms = clock(bus)
    assert decode(job_id).unix_ms <= now_ms, f"{job_id!r} is ahead of the server's {now_ms}"
    minted.add(job_id)
    if host.last and decode(host.last).node == decode(job_id).node:
        assert job_id > host.last, f"{job_id!r} came after {host.last!r}"
    host.last, host.holds = job_id, True


def _steps_back(hand: Random, moves: int) -> set[bytes]:
    """A minter whose wall clock goes on, stands and steps by up to an hour either way."""
    wall = [1_750_000_000_000]
    minter = Minter(5, lambda: wall[0])
    found, last = set[bytes](), b""
    for _ in range(moves):
        wall[0] += hand.choice([0, 0, 0, 1, 1, 7, -1, -HOUR_MS, HOUR_MS])
        job_id = minter.mint()
        assert job_id > last, f"{job_id!r} came after {last!r}"
        found.add(last := job_id)
    assert len(found) == moves
    return found
