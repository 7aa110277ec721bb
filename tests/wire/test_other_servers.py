"""Twenty recorded scenarios over every kind of server, pairwise: each pair of server, protocol,
bus and rights is met at least once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import redis

from queue_core.conformance.suite import play
from queue_core.errors import ForbiddenFault
from queue_core.keys import QueueKeys
from queue_core.rights import LEAST
from queue_core.routes import SLOTS, slot_of
from queue_core.verbs import admission, jobs
from tests.buses import Awaited, Blocking
from tests.servers import PRIMARIES, Cluster, Older, Redis, Sentinels, Single, ask, running
from tests.wire.better import BETTER, FALL_BACK
from tests.wire.replay import Replay

NAMED = (
    "a01-enqueue-row", "a13-payload-binary", "a16-queues-are-separate", "b04-claim-batch",
    "b06-complete-refusals", "b12-retry-dead-again", "b21-delay", "c04-promote-groups",
    "d01-extend-lock", "e02-update-progress", "e06-remove-locked",
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
    Way("tls", 2, "blocking", "least"),
    Way("tls", 3, "awaited", "all"),
    Way("redis", 2, "blocking", "all"),
    Way("redis", 3, "awaited", "least"),
    Way("older", 2, "awaited", "all"),
    Way("older", 3, "blocking", "least"),
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
            rights = [word for word in LEAST if known(port, word)]
            ask(port, "ACL", "SETUSER", USER, "reset", "on", f">{PASSWORD}", *rights)
        self.clients = [redis.Redis(port=port) for port in servers.ports()]

    def url(self, way: Way) -> str:
        """The bus's address in one way."""
        address = self.servers.url
        if way.server == "socket":
            assert isinstance(self.servers, Single)
            address = f"unix://{self.servers.server.socket}"
        options = f"?protocol={way.protocol}"
        if way.server == "tls":
            assert isinstance(self.servers, Redis)
            address = f"rediss://127.0.0.1:{self.servers.tls_port}"
            options += f"&ssl_ca_certs={self.servers.certificate}"
        if way.rights == "least":
            scheme, _, rest = address.partition("://")
            address = f"{scheme}://{USER}:{PASSWORD}@{rest}"
        return address + options

    def home(self, key: str) -> redis.Redis:
        """The server of a key; in a Cluster each primary has a third of the slots."""
        if len(self.clients) == 1:
            return self.clients[0]
        return self.clients[slot_of(key.encode()) // (SLOTS // PRIMARIES + 1)]

    def close(self) -> None:
        """Our own connections."""
        for client in self.clients:
            client.close()


def known(port: int, right: str) -> bool:
    """Whether the server knows the command of a word of the access list."""
    name = right.removeprefix("+").partition("|")[0]
    return not right.startswith("+") or ask(port, "COMMAND", "INFO", name) != [None]


KINDS = {
    "tcp": Single, "older": Older, "redis": Redis, "sentinels": Sentinels, "cluster": Cluster,
}  # fmt: skip
SAME = {"socket": "tcp", "tls": "redis"}
"""Other doors of the same servers."""


@pytest.fixture(scope="module")
def site() -> Iterator[Callable[[str], Site]]:
    """Servers of a kind, started when the first way needs them."""
    with contextlib.ExitStack() as stack:
        made: dict[str, Site] = {}

        def of(server: str) -> Site:
            name = SAME.get(server, server)
            if name not in made:
                servers = stack.enter_context(running(KINDS[name]))
                made[name] = stack.enter_context(contextlib.closing(Site(servers)))
            return made[name]

        yield of


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_twenty_recorded_scenarios(way: Way, site: Callable[[str], Site]) -> None:
    at = site(way.server)
    bus = (Blocking if way.bus == "blocking" else Awaited)(at.url(way))
    try:
        for file in (*NAMED, *{one.file for one in FALL_BACK} - {*NAMED}):
            better = [one for one in BETTER if one.file == file]
            Replay(file, at.home("emq:{gq}:"), bus.run, better, at.home)()
    finally:
        bus.close()


@pytest.mark.parametrize("server", ["redis", "sentinels", "cluster"])
@pytest.mark.parametrize("awaited", [False, True], ids=["blocking", "awaited"])
def test_every_conformance_scenario(
    server: str, awaited: bool, site: Callable[[str], Site]
) -> None:
    at = site(server)
    results = list(play(at.servers.url, awaited=awaited))
    assert [one.line for one in results if not one.passed] == []
    assert len(results) == 79
    fields_expire = at.clients[0].command_list(pattern="hpexpire")
    noted = {one.number for one in results if one.note}
    assert noted == (set() if fields_expire else {58, 59})


@pytest.mark.parametrize("server", ["tcp", "redis"])
@pytest.mark.parametrize("lacks", ["-zadd", "resetchannels"])
def test_a_refusal_inside_a_script_is_forbidden(
    server: str, lacks: str, site: Callable[[str], Site], q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    """Older servers word it in another way."""
    at = site(server)
    assert isinstance(at.servers, Single)
    port = at.servers.port
    rights = [word for word in LEAST if known(port, word)]
    ask(port, "ACL", "SETUSER", "narrow", "reset", "on", f">{PASSWORD}", *rights, lacks)
    bus = Blocking(at.servers.url.replace("://", f"://narrow:{PASSWORD}@"))
    try:
        job = mint()
        did = bus.run_all([admission.enqueue(q, job, b""), jobs.update_progress(q, job, b"half")])
        assert ForbiddenFault in map(type, did)
    finally:
        bus.close()


def test_every_pair_is_met() -> None:
    """Servers with protocols, buses and rights, and those with each other."""
    factors = [(way.server, f"resp{way.protocol}", way.bus, way.rights) for way in WAYS]
    for one in range(4):
        for other in range(one + 1, 4):
            met = {(row[one], row[other]) for row in factors}
            wanted = {(a[one], b[other]) for a in factors for b in factors}
            assert met == wanted
