"""Node numbers that are leased on the bus."""

from __future__ import annotations

import threading

import pytest

from queue_core import ids
from queue_core.errors import InvalidError, UnavailableError
from queue_core.keys import node_lease
from queue_core.nodes import FIRST, LAST, LEASE_MS, RENEW_S, USABLE_S, NodeLease
from tests.builders import command
from tests.buses import Blocking
from tests.engine.steps import watched
from tests.servers import until


class Clock:
    """A monotonic clock that a test moves."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def few(run):
    """Three numbers that no other test takes, free at the beginning and the end."""
    numbers = range(FIRST - 3, FIRST)

    def free() -> None:
        for number in numbers:
            run(command("DEL", node_lease(number)))

    free()
    yield numbers[0], numbers[-1]
    free()


def comes_free(run, number):
    """A number that was given back, once the ms of the last mint is over."""
    until(lambda: run(command("EXISTS", node_lease(number))) == 0, "the number is free")


def test_a_number_is_taken_at_the_first_mint_and_kept(run):
    lease = NodeLease()
    assert lease.node is None
    minted = [run(lease.mint()) for _ in range(50)]
    assert minted == sorted(set(minted))
    assert {ids.decode(one).node for one in minted} == {lease.node}
    assert FIRST <= lease.node <= LAST
    assert 0 < run(command("PTTL", node_lease(lease.node))) <= LEASE_MS
    assert ids.decode(run(lease.mint("USR"))).namespace == "USR"
    run(lease.release())
    comes_free(run, ids.decode(minted[0]).node)


def test_minting_asks_the_bus_only_to_take_and_to_renew(run, few):
    clock, steps = Clock(), []
    lease = NodeLease(*few, clock=clock)
    for _ in range(20):
        run(watched(lease.mint(), steps))
    assert len(steps) == 1
    run(command("PEXPIRE", node_lease(lease.node), 20_000))
    clock.now += RENEW_S
    held = lease.node
    run(watched(lease.mint(), steps))
    run(watched(lease.mint(), steps))
    assert (len(steps), lease.node) == (2, held)
    assert run(command("PTTL", node_lease(held))) > 20_000


def test_two_never_hold_one_number(run, few):
    leases = [NodeLease(*few) for _ in range(3)]
    for lease in leases:
        run(lease.mint())
    assert {lease.node for lease in leases} == set(range(few[0], few[1] + 1))
    with pytest.raises(UnavailableError) as fault:
        run(NodeLease(*few).mint())
    assert fault.value.code == "NONODE"
    given_back = leases[1].node
    run(leases[1].release())
    comes_free(run, given_back)
    freed = run(NodeLease(*few).mint())
    assert ids.decode(freed).node not in {leases[0].node, leases[2].node}


def test_who_slept_through_its_lease_takes_another(run, few):
    clock = Clock()
    lease = NodeLease(*few, clock=clock)
    run(lease.mint())
    slept = lease.node
    clock.now += USABLE_S
    run(command("SET", node_lease(slept), "another"))
    assert ids.decode(run(lease.mint())).node == lease.node != slept
    assert run(command("GET", node_lease(slept))) == b"another"
    run(lease.release())
    assert run(command("GET", node_lease(slept))) == b"another"


def test_who_was_stopped_in_the_middle_of_a_mint_mints_nothing_that_another_may(run, few):
    clock = Clock()
    lease = NodeLease(*few, clock=clock)
    first = ids.decode(run(lease.mint()))

    class Stopped(Clock):
        """Stops the process once it has seen that the lease stands."""

        def __call__(self):
            seen, self.now = self.now, self.now + 70
            return seen

    lease._clock = Stopped()
    late = ids.decode(run(lease.mint()))
    assert late.node == first.node
    assert late.unix_ms - first.unix_ms < LEASE_MS


def test_a_lease_that_another_has_taken_is_not_renewed(run, few):
    clock = Clock()
    lease = NodeLease(*few, clock=clock)
    run(lease.mint())
    lost = lease.node
    clock.now += RENEW_S
    run(command("SET", node_lease(lost), "another"))
    assert ids.decode(run(lease.mint())).node != lost


def test_ids_rise_though_the_number_was_lost_in_between(run, few):
    clock = Clock()
    lease = NodeLease(few[0], few[0], clock=clock)
    before = [run(lease.mint()) for _ in range(5000)][-1]
    clock.now += LEASE_MS
    run(command("DEL", node_lease(lease.node)))
    assert run(lease.mint()) > before


def test_no_number_without_the_bus(run, few):
    def broken(plan):
        step = next(plan)
        assert step
        return plan.throw(UnavailableError("CONNECT", "nobody there"))

    with pytest.raises(UnavailableError):
        broken(NodeLease(*few).mint())


def test_threads_mint_under_one_lease(bus):
    lease = NodeLease()
    minted: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: minted.extend(bus.run(lease.mint()) for _ in range(200)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(minted)) == 1200
    bus.run(lease.release())


def test_a_range_is_checked():
    for bounds in ((-1, 5), (5, 4), (0, 1024)):
        with pytest.raises(InvalidError):
            NodeLease(*bounds)


def test_leases_work_in_a_cluster(cluster):
    made = Blocking(cluster.url)
    lease = NodeLease()
    assert ids.decode(made.run(lease.mint())).node == lease.node
    made.close()
