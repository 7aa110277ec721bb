"""Servers that change their parts while both buses use them."""

from __future__ import annotations

import time

import pytest

from queue_core.errors import EchoMQError, UnavailableError, UnknownOutcomeError
from queue_core.keys import queue
from queue_core.outcomes import Word
from queue_core.plans import Call
from queue_core.routes import slot_of
from queue_core.verbs import admission
from tests.builders import command
from tests.buses import Awaited, Blocking
from tests.engine.crew import at_work, six_queues
from tests.servers import Cluster, Sentinels, ask, running, until

MOVING = "emq"
"""A queue on the slot of the version fence, so on the node that has a replica in the Cluster."""


@pytest.fixture
def both():
    """Both buses over one address."""
    made = []

    def make(url):
        made.extend((Blocking(url), Awaited(url)))
        return made

    yield make
    for bus in made:
        bus.close()


def persist(bus, plan):
    """Run a plan as a worker would: again after a fault, for a while."""
    deadline = time.monotonic() + 20
    while True:
        try:
            return bus.run(plan())
        except (UnavailableError, UnknownOutcomeError):
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.mark.parametrize("kind", ["sentinels", "cluster"])
def test_an_orderly_failover_is_followed_by_buses_and_loops(both, kind, request, mint):
    servers = request.getfixturevalue(kind)
    buses = both(servers.url)
    q = queue(f"{MOVING}.{kind}") if kind == "sentinels" else Near()
    for bus in buses:
        assert bus.run(admission.enqueue(q, mint(), b"")) is Word.enqueued
    before = set(servers.ports())
    near = (lambda _: True) if kind == "sentinels" else servers.has_replica
    with at_work(servers.url, six_queues(near)) as crew:
        asked = crew.hold() | crew.admit()
        servers.fail_over()
        crew.go.set()
        assert set(servers.ports()) != before
        if kind == "sentinels":  # for some seconds
            assert ask(*before, "ROLE")[0] == b"master", "it was asked for: the old one serves on"
        until(lambda: crew.at() <= set(servers.ports()), "every loop has found the new primary")
        for bus in buses:
            until(
                lambda bus=bus: at(bus, q) == set(servers.ports()),
                "the bus has found the new primary",
            )
            job_id = mint()
            word = persist(bus, lambda job_id=job_id: admission.enqueue(q, job_id, b""))
            assert word in (Word.enqueued, Word.duplicate)
            results = bus.run_all([admission.enqueue(q, mint(), b""), command("ZCARD", q.pending)])
            assert results[0] is Word.enqueued
        crew.served(asked | crew.admit())


def at(bus, q) -> set[int]:
    """The ports a bus holds for primaries, once it has used them."""
    persist(bus, lambda: command("EXISTS", q.pending))
    return {int(name.rpartition(":")[2]) for name in bus.bus.primaries()}


def Near():  # noqa: N802 (stands where a queue stands)
    """A queue whose slot lies with the fence's owner."""
    from queue_core.keys import found

    share = 16384 // 3 + 1
    return next(
        keys for n in range(1000)
        if slot_of((keys := found(f"near{n}")).base) // share == 9051 // share
    )  # fmt: skip


@pytest.mark.parametrize("kind", [Sentinels, Cluster])
def test_a_crash_of_the_primary_costs_a_pause_and_no_admission(both, kind, mint):
    with running(kind) as servers:
        buses = both(servers.url)
        q = Near()
        for bus in buses:
            bus.run(admission.enqueue(q, mint(), b""))
        asked = [[mint() for _ in range(20)] for _ in buses]
        servers.kill_primary()
        for bus, ids in zip(buses, asked, strict=True):
            with pytest.raises(EchoMQError):
                bus.run(admission.enqueue(q, ids[0], b""))
        for bus, ids in zip(buses, asked, strict=True):
            for job_id in ids:
                word = persist(bus, lambda job_id=job_id: admission.enqueue(q, job_id, b""))
                assert word in (Word.enqueued, Word.duplicate)
        for job_id in asked[0] + asked[1]:
            assert buses[0].run(command("ZSCORE", q.pending, job_id)) == b"0"


def test_a_slot_is_followed_while_it_moves_and_after(both, cluster, mint):
    buses = both(cluster.url)
    until(cluster.whole, "the cluster is whole")
    owners = cluster.ports()
    q = next(
        keys for n in range(1000)
        if ask_owner(owners, (keys := queue(f"moving{n}")).pending) == owners[0]
    )  # fmt: skip
    slot, source, target = slot_of(q.base), owners[0], owners[1]
    names = {port: ask(port, "CLUSTER", "MYID").decode() for port in (source, target)}
    first = [mint() for _ in buses]
    for bus, job_id in zip(buses, first, strict=True):
        assert bus.run(admission.enqueue(q, job_id, b"")) is Word.enqueued
    ask(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", names[source])
    ask(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", names[target])
    fresh = q.base + b"fresh"
    for n, bus in enumerate(buses):  # a key that is not there yet: ASK
        assert bus.run(command("INCR", fresh)) == 1 + 2 * n
        assert bus.run_all([command("INCR", fresh), command("EXISTS", q.base)]) == [2 + 2 * n, 0]
    for key in ask(source, "CLUSTER", "GETKEYSINSLOT", slot, 100):
        ask(source, "MIGRATE", "127.0.0.1", target, key, 0, 5000)
    for port in (target, source):
        ask(port, "CLUSTER", "SETSLOT", slot, "NODE", names[target])
    for bus, job_id in zip(buses, first, strict=True):  # moved for good: MOVED
        assert bus.run(admission.enqueue(q, job_id, b"")) is Word.duplicate
        assert bus.run_all([command("GET", fresh)]) == [b"4"]


def ask_owner(owners, key):
    """The port of the node that owns a key's slot."""
    for port in owners:
        try:
            ask(port, "EXISTS", key)
        except EchoMQError:
            continue
        return port
    raise AssertionError(key)


def test_a_cluster_is_scanned_node_by_node(both, cluster):
    for bus in both(cluster.url):
        wanted = {b"emq:{scan%d}:pending" % n for n in range(30)}
        for key in wanted:
            bus.run(command("SET", key, "x"))
        found = set()
        for node in bus.bus.primaries():
            cursor = b"0"
            while True:
                cursor, keys = bus.run(scan(node, cursor))
                found |= set(keys)
                if cursor == b"0":
                    break
        assert wanted <= found


def scan(node, cursor):
    return (yield Call("SCAN", (), (cursor, "MATCH", "emq:{scan*", "COUNT", 500), node=node))


def test_a_node_that_has_gone_is_named_as_such(both, cluster):
    for bus in both(cluster.url):
        with pytest.raises(UnavailableError) as fault:
            bus.run(scan("127.0.0.1:1", b"0"))
        assert fault.value.code == "NONODE"


def test_nobody_to_ask_is_said_in_words():
    for url, word in (
        ("redis+sentinel://127.0.0.1:1,127.0.0.1:2/house", "no sentinel"),
        ("redis+cluster://127.0.0.1:1", "no node"),
    ):
        for kind in (Blocking, Awaited):
            with pytest.raises(UnavailableError, match=word):
                kind(url)


def test_a_service_that_no_sentinel_knows(sentinels):
    with pytest.raises(UnavailableError, match="no sentinel names"):
        Blocking(sentinels.url.replace("/house", "/other"))
