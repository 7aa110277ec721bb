"""Twenty recorded scenarios over every kind of server, pairwise: each pair of server, protocol,
bus and rights is met at least once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import redis

from queue_core.conformance.suite import play
from queue_core.rights import LEAST
from queue_core.routes import SLOTS, slot_of
from tests.buses import Awaited, Blocking
from tests.servers import PRIMARIES, Cluster, Sentinels, Single, ask, running
from tests.wire.better import BETTER
from tests.wire.replay import Replay

NAMED = (
    "a01-enqueue-row", "a13-payload-binary", "a16-queues-are-separate", "b04-claim-batch",
    "b06-complete-refusals", "b12-retry-dead-again", "b21-delay", "c04-promote-groups",
    "d07-lock-track-missing", "e02-update-progress", "e06-remove-locked",
    "f09-names-and-templates", "g09-weighted-clamps", "h13-obliterate-paused-lanes",
    "j06-stalled-and-reap", "k05-child-dies-ignored", "k08-cross-queue",
    "k17-tree-ignored-death-reemitted", "r01-random", "t07-lock-beat",
)  # fmt: skip


@dataclass(frozen=True)
class Way:
    """One way to reach a bus."""

    server: str
    protocol: int
    bus: str
    rights: str

    def __str__(self) -> str:
        return f"{self.server}-resp{self.protocol}-{self.bus}-{self.rights}"


WAYS = (
    Way("tcp", 2, "blocking", "all"),
    Way("tcp", 3, "awaited", "least"),
    Way("socket", 2, "awaited", "least"),
    Way("socket", 3, "blocking", "all"),
    Way("sentinels", 2, "blocking", "least"),
    Way("sentinels", 3, "awaited", "all"),
    Way("cluster", 2, "awaited", "all"),
    Way("cluster", 3, "blocking", "least"),
)
USER, PASSWORD = "worker", "worker-1815"


class Site:
    """Servers of one kind with a user of the least rights on each, and how to reach them."""

    def __init__(self, servers: Single | Sentinels | Cluster) -> None:
        self.servers = servers
        if isinstance(servers, Single):
            ports = [servers.port]
        else:
            held = servers.data if isinstance(servers, Sentinels) else servers.nodes.values()
            ports = [node.port for node in held if node.port]
        for port in ports:
            ask(port, "ACL", "SETUSER", USER, "reset", "on", f">{PASSWORD}", *LEAST)
        self.clients = [redis.Redis(port=port) for port in servers.ports()]

    def url(self, way: Way) -> str:
        """The bus's address in one way."""
        address = self.servers.url
        if way.server == "socket":
            assert isinstance(self.servers, Single)
            address = f"unix://{self.servers.server.socket}"
        if way.rights == "least":
            scheme, _, rest = address.partition("://")
            address = f"{scheme}://{USER}:{PASSWORD}@{rest}"
        return f"{address}?protocol={way.protocol}"

    def home(self, key: str) -> redis.Redis:
        """The server of a key; in a Cluster each primary has a third of the slots."""
        if len(self.clients) == 1:
            return self.clients[0]
        return self.clients[slot_of(key.encode()) // (SLOTS // PRIMARIES + 1)]

    def close(self) -> None:
        """Our own connections."""
        for client in self.clients:
            client.close()


@pytest.fixture(scope="module")
def site() -> Iterator[Callable[[str], Site]]:
    """Servers of a kind, started when the first way needs them."""
    kinds = {"tcp": Single, "socket": Single, "sentinels": Sentinels, "cluster": Cluster}
    with contextlib.ExitStack() as stack:
        made: dict[type, Site] = {}

        def of(server: str) -> Site:
            kind = kinds[server]
            if kind not in made:
                made[kind] = Site(stack.enter_context(running(kind)))
                stack.callback(made[kind].close)
            return made[kind]

        yield of


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_twenty_recorded_scenarios(way: Way, site: Callable[[str], Site]) -> None:
    at = site(way.server)
    bus = (Blocking if way.bus == "blocking" else Awaited)(at.url(way))
    try:
        for file in NAMED:
            better = [one for one in BETTER if one.file == file]
            Replay(file, at.home("emq:{gq}:"), bus.run, better, at.home)()
    finally:
        bus.close()


@pytest.mark.parametrize("server", ["sentinels", "cluster"])
@pytest.mark.parametrize("awaited", [False, True], ids=["blocking", "awaited"])
def test_every_conformance_scenario(
    server: str, awaited: bool, site: Callable[[str], Site]
) -> None:
    results = play(site(server).servers.url, awaited=awaited)
    assert [one.line for one in results if not one.passed] == []


def test_every_pair_is_met() -> None:
    """Servers with protocols, buses and rights, and those with each other."""
    factors = [(way.server, f"resp{way.protocol}", way.bus, way.rights) for way in WAYS]
    for one in range(4):
        for other in range(one + 1, 4):
            met = {(row[one], row[other]) for row in factors}
            wanted = {(a[one], b[other]) for a in factors for b in factors}
            assert met == wanted
