"""A pump that is killed between any two of its steps: another one leaves what none that was killed
would have left."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from queue_core.keys import QueueKeys, queue
from queue_core.plans import Plan
from queue_core.verbs import repeats, settle
from queue_core.work import pump
from tests.builders import HOUR, Builder, Made, Run, a_lane, command, row, server_ms

Mint = Callable[[], bytes]
FEWEST = 12
"""Steps of a sweep that does all of it by ones."""


def sweep(q: QueueKeys, mint: Mint) -> Plan[bool]:
    """What a pump does in its turn; whether there may be more."""

    def minted() -> Plan[bytes]:
        return mint()
        yield

    yield from pump.return_stalled(q, 3)
    found = pump.due_of((yield pump.look(q)))
    yield from pump.do_due(q, minted, found)
    return not found.wait_ms


def cut_off(plan: Plan[bool], steps: int) -> Plan[bool]:
    """A plan whose process is killed after so many steps; whether it came to its end before."""
    try:
        step = next(plan)
        for _ in range(steps):
            step = plan.send((yield step))
    except StopIteration:
        return True
    plan.close()
    return False


class Site:
    """A queue with two of all that a pump drives, and the queue of its children's parent."""

    def __init__(self, run: Run, q: QueueKeys, home: QueueKeys, mint: Mint) -> None:
        self.run, self.q, self.home = run, q, home
        make, self.lane = Builder(run, q, mint), a_lane()
        self.parent = Builder(run, home, mint).awaiting_children(2)
        self.children = [self._done(make) for _ in range(2)]
        self.stalled = [make.expired() for _ in range(2)]
        self.flat = [make.due() for _ in range(2)]
        self.laned = [make.due(self.lane) for _ in range(2)]
        at = run(server_ms()) - 5_000
        for name in ("one", "other"):
            run(repeats.register(q, name, HOUR, name.encode()))
            run(command("ZADD", q.repeat, at, name))

    def _done(self, make: Builder) -> bytes:
        child = make.held_child(self.parent, parent_queue=self.home.name.decode())
        self.run(settle.complete(self.q, child.id, child.token, b"r"))
        return child.id

    def check(self) -> None:
        """Everything is where it belongs, once."""
        q, run = self.q, self.run
        for key in (q.active, q.schedule, q.outbox, q.dead):
            assert run(command("EXISTS", key)) == 0
        waiting = run(command("ZRANGE", q.pending, 0, -1))
        assert ids(self.stalled) | ids(self.flat) <= set(waiting)
        fired = [run(row(q, one)) for one in set(waiting) - ids(self.stalled) - ids(self.flat)]
        assert sorted(one[b"payload"] for one in fired) == [b"one", b"other"]
        assert [run(row(q, one.id))[b"stalled"] for one in self.stalled] == [b"1", b"1"]
        assert set(run(command("ZRANGE", q.lane(self.lane), 0, -1))) == ids(self.laned)
        assert run(command("LRANGE", q.ring, 0, -1)) == [self.lane]
        told = run(command("HKEYS", self.home.processed(self.parent.id)))
        assert sorted(told) == sorted(self.children)
        assert run(command("ZRANGE", self.home.pending, 0, -1)) == [self.parent.id]


def ids(made: list[Made]) -> set[bytes]:
    return {one.id for one in made}


def test_a_pump_may_be_killed_after_each_of_its_steps(
    run: Run, q: QueueKeys, mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pump, "BATCH", 1)
    for steps in itertools.count():
        name = q.name + b".%d" % steps
        site = Site(run, queue(name), queue(name + b".home"), mint)
        ended = run(cut_off(sweep(site.q, mint), steps))
        while run(sweep(site.q, mint)):
            pass
        site.check()
        if ended:
            break
    assert steps >= FEWEST
