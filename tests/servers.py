"""Servers for tests, all real processes: one, one behind Sentinels, a Cluster."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from queue_core.embedded import OLDEST, Embedded, find_binary, leashed
from queue_core.errors import EchoMQError, UnavailableError
from queue_core.keys import QueueKeys
from queue_core.links import Link
from queue_core.servers import Address
from tests.ports import free_ports
from tests.tls import certificate

PATIENCE_S = 30.0
SERVICE = "house"
PRIMARIES = 3
SLOTS = 16384


def until(
    true: Callable[[], object], what: str | Callable[[], str], patience_s: float = PATIENCE_S
) -> None:
    """Wait until something holds, a few ms between two looks; a server that is away says no."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        with contextlib.suppress(EchoMQError):
            if true():
                return
        time.sleep(0.02)
    raise AssertionError(f"never came true: {what() if callable(what) else what}")


def ask(port: int, *words: str | int) -> Any:
    """One command to the server at a port on a line of its own, its reply as it came."""
    line = Link(Address("127.0.0.1", port), 5.0)
    try:
        line.send([words])
        reply = line.read()
    except OSError as error:
        raise UnavailableError("LOST", str(error)) from None
    finally:
        line.close()
    if isinstance(reply, EchoMQError):
        raise reply
    return reply


class Single:
    """One server with a port."""

    def __init__(self, folder: Path) -> None:
        self.port = free_ports(1)[0]
        self.server = Embedded(folder, self.port)

    @property
    def url(self) -> str:
        """Its address."""
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> Single:
        """Have it answer."""
        self.server.start()
        return self

    def ports(self) -> list[int]:
        """The servers that take writes now."""
        return [self.port]

    def stop(self) -> None:
        """Nothing is left."""
        self.server.kill()


def find_redis() -> Path:
    """The Redis of at least 7.0 that `./dev test` finds or installs."""
    named = os.environ.get("REDIS_SERVER") or "redis-server"
    beside = str(Path(sys.executable).parent)
    found = shutil.which(named) or shutil.which(named, path=beside)
    assert found, "There is no Redis. ./dev test installs one or says how; REDIS_SERVER names one."
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"v=(\d+)\.(\d+)", told)
    assert version, f"{found} is no Redis: {told}"
    assert tuple(map(int, version.groups())) >= OLDEST, f"{found} is too old: {told}"
    return Path(found)


class Redis(Single):
    """A Redis, which takes TLS by itself on a second port."""

    def __init__(self, folder: Path) -> None:
        self.port, self.tls_port = free_ports(2)
        self.certificate, key = certificate(folder)
        words = (
            *("--tls-port", str(self.tls_port), "--tls-auth-clients", "no"),
            *("--tls-cert-file", str(self.certificate), "--tls-key-file", str(key)),
            *("--tls-ca-cert-file", str(self.certificate)),
        )
        self.server = Embedded(folder, self.port, words, find_redis())


class Older(Single):
    """A server from before hash fields could expire."""

    UNKNOWN = ("HEXPIRE", "HPEXPIRE", "HPEXPIREAT", "HTTL", "HPTTL")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        without = [word for name in self.UNKNOWN for word in ("--rename-command", name, "")]
        self.server = Embedded(folder, self.port, without)


class Sentinels:
    """A primary, a replica, and three sentinels that watch them."""

    def __init__(self, folder: Path) -> None:
        self._ports = free_ports(5)
        self.data = [
            Embedded(folder / str(port), port, ("--repl-diskless-sync-delay", "0"))
            for port in self._ports[:2]
        ]
        self._folder = folder
        self._sentinels: list[subprocess.Popen[bytes]] = []

    @property
    def url(self) -> str:
        """The sentinels' address."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in self._ports[2:])
        return f"redis+sentinel://{hosts}/{SERVICE}"

    def start(self) -> Sentinels:
        """Have the replica follow and the sentinels know everybody."""
        for server in self.data:
            server.start()
        first, second = self._ports[:2]
        ask(second, "REPLICAOF", "127.0.0.1", first)
        until(lambda: b"master_link_status:up" in ask(second, "INFO", "replication"), "replica up")
        for port in self._ports[2:]:
            self._sentinels.append(self._sentinel(port, first))
        until(self.whole, "the sentinels know everybody")
        return self

    def _sentinel(self, port: int, watched: int) -> subprocess.Popen[bytes]:
        conf = self._folder / f"sentinel-{port}.conf"
        conf.write_text(
            f"port {port}\nbind 127.0.0.1\ndir {self._folder}\nlogfile {conf}.log\n"
            f"sentinel monitor {SERVICE} 127.0.0.1 {watched} 2\n"
            f"sentinel down-after-milliseconds {SERVICE} 500\n"
            f"sentinel failover-timeout {SERVICE} 3000\n"
        )
        return subprocess.Popen(
            leashed([str(find_binary()), str(conf), "--sentinel"]), stdout=subprocess.DEVNULL
        )

    def whole(self) -> bool:
        """Whether every sentinel sees one live replica and the two others."""
        seen = [_told(ask(port, "SENTINEL", "MASTER", SERVICE)) for port in self._ports[2:]]
        return all(
            (one[b"flags"], one[b"num-slaves"], one[b"num-other-sentinels"])
            == (b"master", b"1", b"2")
            for one in seen
        ) and all(
            b"s_down" not in _told(replica)[b"flags"]
            and _told(replica)[b"master-link-status"] == b"ok"
            for port in self._ports[2:]
            for replica in ask(port, "SENTINEL", "REPLICAS", SERVICE)
        )

    def ports(self) -> list[int]:
        """The primary's port, as the sentinels say."""
        _, port = ask(self._ports[2], "SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE)
        return [int(port)]

    def fail_over(self) -> None:
        """Hand the primary's part over in order, as an operator would."""
        before = self.ports()
        until(self.whole, "all is well before the failover")
        until(lambda: ask(self._ports[2], "SENTINEL", "FAILOVER", SERVICE), "a failover begins")
        until(lambda: self.ports() != before, "another primary")

    def kill_primary(self) -> Embedded:
        """End the primary as a crash would; which it was."""
        until(self.whole, "all is well before the crash")
        primary = next(one for one in self.data if one.port in self.ports())
        primary.kill()
        return primary

    def mend(self, fallen: Embedded) -> None:
        """Bring a fallen server back; the sentinels make it follow."""
        fallen.start()
        until(self.whole, "the fallen server follows")

    def stop(self) -> None:
        """Nothing is left."""
        for process in self._sentinels:
            process.kill()
            process.wait()
        for server in self.data:
            server.kill()


class Cluster:
    """Three primaries with a third of the slots each, and a replica of the fence's owner."""

    def __init__(self, folder: Path) -> None:
        ports = free_ports(2 * (PRIMARIES + 1))
        self.nodes = {
            port: Embedded(
                folder / str(port),
                port,
                (
                    *("--cluster-enabled", "yes", "--cluster-port", str(gossip)),
                    *("--cluster-node-timeout", "1000", "--repl-diskless-sync-delay", "0"),
                ),
            )
            for port, gossip in zip(ports[::2], ports[1::2], strict=True)
        }
        self._gossip = dict(zip(ports[::2], ports[1::2], strict=True))
        self._ports = ports[::2]

    @property
    def url(self) -> str:
        """Two of its nodes."""
        return f"redis+cluster://127.0.0.1:{self._ports[0]},127.0.0.1:{self._ports[1]}"

    def start(self) -> Cluster:
        """Have the nodes meet, share the slots and agree on it."""
        for node in self.nodes.values():
            node.start()
        first, *others = self._ports
        share = SLOTS // PRIMARIES + 1
        for at, port in enumerate(self._ports[:PRIMARIES]):
            begin, end = at * share, min(SLOTS, (at + 1) * share) - 1
            ask(port, "CLUSTER", "ADDSLOTSRANGE", begin, end)
            ask(port, "CLUSTER", "SET-CONFIG-EPOCH", at + 1)
        for port in others:
            ask(first, "CLUSTER", "MEET", "127.0.0.1", port, self._gossip[port])
        until(lambda: all(map(self._agrees, self._ports)), "the nodes agree")
        owner = self._ports[1]  # of slot 9051
        name = ask(owner, "CLUSTER", "MYID")
        until(lambda: ask(self._ports[-1], "CLUSTER", "REPLICATE", name), "a replica follows")
        until(self.whole, "the replica is up and known")
        return self

    def _agrees(self, port: int) -> bool:
        told = ask(port, "CLUSTER", "INFO")
        known = b"cluster_known_nodes:%d" % len(self._ports)
        return b"cluster_state:ok" in told and known in told

    def whole(self) -> bool:
        """Whether every node sees three primaries and a replica, all well."""
        seen = [ask(port, "CLUSTER", "NODES") for port in self._ports]
        replicas = [
            port for port in self._ports if b"role:slave" in ask(port, "INFO", "replication")
        ]
        return (
            all(map(self._agrees, self._ports))
            and all(text.count(b"slave") == 1 and b"fail" not in text for text in seen)
            and len(replicas) == 1
            and b"master_link_status:up" in ask(replicas[0], "INFO", "replication")
        )

    def ports(self) -> list[int]:
        """The primaries' ports."""
        return [port for port in self._ports if ask(port, "ROLE")[0] == b"master"]

    def _pair(self) -> tuple[int, int]:
        """The replica and its primary."""
        replica = next(port for port in self._ports if ask(port, "ROLE")[0] == b"slave")
        return replica, int(ask(replica, "ROLE")[2])

    def fail_over(self) -> None:
        """Let the replica take over in order, as an operator would."""
        until(self.whole, "all is well before the failover")
        replica, _ = self._pair()
        ask(replica, "CLUSTER", "FAILOVER")
        until(lambda: replica in self.ports(), "the replica is a primary")

    def has_replica(self, q: QueueKeys) -> bool:
        """Whether a queue lies with the primary that has a replica."""
        _, primary = self._pair()
        try:
            ask(primary, "EXISTS", q.pending)
        except EchoMQError:
            return False
        return True

    def kill_primary(self) -> Embedded:
        """End the primary that has a replica, as a crash would; which it was."""
        until(self.whole, "all is well before the crash")
        fallen = self.nodes[self._pair()[1]]
        fallen.kill()
        return fallen

    def mend(self, fallen: Embedded) -> None:
        """Bring a fallen node back; it follows its successor."""
        fallen.start()
        until(self.whole, "the fallen node follows")

    def stop(self) -> None:
        """Nothing is left."""
        for node in self.nodes.values():
            node.kill()


def _told(flat: Any) -> dict[bytes, bytes]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


Kind = TypeVar("Kind", Single, Sentinels, Cluster)


@contextlib.contextmanager
def running(kind: type[Kind]) -> Iterator[Kind]:
    """One of these, in a folder of its own, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="emq-servers-") as folder:
        servers = kind(Path(folder))
        try:
            yield servers.start()
        finally:
            servers.stop()
