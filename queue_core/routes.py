"""Which server a call goes to, and how to learn that: nothing here does I/O.

A single server needs no asking. Sentinels name the primary of a service. A Cluster's nodes tell
which of them owns which slots; a refusal with MOVED corrects one slot at once.
"""

from __future__ import annotations

import math
from binascii import crc_hqx
from collections.abc import Generator
from dataclasses import dataclass
from time import monotonic

from queue_core import fence, remedies
from queue_core.errors import EchoMQError, ServerFault, UnavailableError
from queue_core.plans import Arg, Call, Reply
from queue_core.servers import Address, Kind, Servers

SLOTS = 16384

DOUBT_S = {Kind.single: math.inf, Kind.sentinel: 1.0, Kind.cluster: 15.0}
"""How long what the servers said is taken for true. After an orderly failover behind Sentinels
the old primary still takes writes for a moment, which nobody keeps: asking once a second bounds
that moment. A Cluster says MOVED where it matters; asking keeps the list of primaries true."""

ALONE = 10
"""Where none of them answered it is taken for true so many times as long as asking took, at least:
such as have fallen silent hold up whoever asks."""

Words = tuple[Arg, ...]


def slot_of(key: bytes) -> int:
    """The slot of a key: CRC16 of its hash tag, or of all of it (protocol part 2.5)."""
    begin = key.find(b"{")
    if begin >= 0:
        end = key.find(b"}", begin + 1)
        if end > begin + 1:
            key = key[begin + 1 : end]
    return crc_hqx(key, 0) % SLOTS


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to one server outside the data's connections: a sentinel, or any node."""

    address: Address
    words: Words


class Routes:
    """What is known of the servers of one bus. `slots` is None but in a Cluster; `primaries` are
    node names; `scripts` which SHAs a node was seen to know; `stale` says that the knowledge failed
    and should be asked for again."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.slots: list[str] | None = None
        self.primaries: tuple[str, ...] = ()
        self.addresses: dict[str, Address] = {}
        self.scripts: dict[str, set[str]] = {}
        self.stale = servers.kind is not Kind.single
        self.can_learn = self.stale
        self._doubt_at = math.inf
        self._told_by: Address | None = None
        if not self.stale:
            self._only(servers.seeds[0])

    def current(self) -> bool:
        """Whether what is known may be used without asking first."""
        return not self.stale and (self._doubt_at == math.inf or monotonic() < self._doubt_at)

    def learned(self, least_s: float = 0.0) -> None:
        """What is known is as good as it gets, for a while; not shorter than so long."""
        self.stale = False
        self._doubt_at = monotonic() + max(DOUBT_S[self.servers.kind], least_s)

    def node_of(self, call: Call) -> str:
        """The node of a call. `UnavailableError` where a Cluster has none for it."""
        if self.slots is None:
            return self.primaries[0]
        if call.node is not None:
            if call.node not in self.addresses:
                self.stale = True
                raise UnavailableError("NONODE", f"{call.node} is no node of the cluster now")
            return call.node
        if not call.keys:
            return self.primaries[0]
        node = self.slots[slot_of(call.keys[0])]
        if not node:
            self.stale = True  # another may serve it by now
            raise UnavailableError("CLUSTERDOWN", "no node serves this slot")
        return node

    def address_of(self, node: str) -> Address:
        """Where a node is. `UnavailableError` with code CONNECT where it serves no more: that was
        learned since it was chosen, and nothing was sent."""
        try:
            return self.addresses[node]
        except KeyError:
            raise UnavailableError("CONNECT", f"{node} serves no more") from None

    def fence_owner(self) -> str:
        """The node that holds the version fence."""
        owner = self.primaries[0] if self.slots is None else self.slots[fence.SLOT]
        if not owner:
            self.stale = True
            raise UnavailableError("CLUSTERDOWN", "no node serves the slot of the version fence")
        return owner

    def redirected(self, text: str, asked: str) -> tuple[int, str]:
        """Slot and node of a MOVED or ASK reply; no host in it means the one that was asked."""
        _, slot, place = text.split(" ")[:3]
        host, _, port = place.rpartition(":")
        address = Address(host or asked.rpartition(":")[0].strip("[]"), int(port))
        self.addresses.setdefault(address.name, address)
        return int(slot), address.name

    def moved(self, text: str, asked: str) -> None:
        """Learn from a MOVED reply."""
        slot, node = self.redirected(text, asked)
        if self.slots is not None:
            self.slots[slot] = node
        self.stale = True

    def learn(self) -> Generator[Ask, Reply | EchoMQError, None]:
        """Ask who serves, one server after another until one knows. Each answer is sent in, a
        fault too. `UnavailableError` where none knows and what was known has failed."""
        if self.servers.kind is Kind.single:
            return
        words: Words = ("CLUSTER", "SLOTS")
        if self.servers.kind is Kind.sentinel:
            words = ("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.servers.service)
        last: EchoMQError | None = None
        began = monotonic()
        for address in self._known():
            answer = yield Ask(address, words)
            if isinstance(answer, ServerFault) and self.stale:
                raise remedies.of_asking(self.servers, answer)
            if isinstance(answer, EchoMQError):
                last = answer
            elif answer:
                self._take(answer, address)
                self._told_by = address
                self.learned()
                return
        if self.stale:
            raise UnavailableError("NOROUTE", remedies.of_no_primary(self.servers, last))
        # Whoever was asked is away, those that serve may well do so.
        self.learned(ALONE * (monotonic() - began))

    def _known(self) -> list[Address]:
        """Whom to ask: in a Cluster those that serve now, then the seeds; of these first the one
        that told last, or one that has fallen silent would hold up each time that is asked. Where
        what it told has failed it is the last: it may be cut off from the others."""
        serving = [self.addresses[name] for name in self.primaries] if self.slots else []
        known = dict.fromkeys([*serving, *self.servers.seeds])
        return sorted(known, key=lambda address: (address != self._told_by) != self.stale)

    def _take(self, answer: Reply, asked: Address) -> None:
        if self.servers.kind is Kind.sentinel:
            host, port = answer[:2]
            self._only(Address(host.decode(), int(port)))
            return
        slots = [""] * SLOTS
        addresses: dict[str, Address] = {}
        for first, last, primary, *_ in answer:
            host = (primary[0] or b"").decode()
            address = Address(asked.host if host in {"", "?"} else host, int(primary[1]))
            addresses[address.name] = address
            slots[first : last + 1] = [address.name] * (last - first + 1)
        self.slots, self.addresses = slots, addresses
        self.primaries = tuple(sorted(addresses))

    def _only(self, address: Address) -> None:
        self.addresses = {address.name: address}
        self.primaries = (address.name,)
