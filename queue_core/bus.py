"""The blocking bus: runs plans over one server, Sentinel or Cluster (docs/operations.md).

Safe to share by threads: each round trip has a connection to itself, taken from a stack per node
and put back. What is sent is never sent twice: a call that got no answer is an
`UnknownOutcomeError` where it may have changed something, `UnavailableError` where it cannot have.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from queue_core import fence as fencing
from queue_core.errors import ContractError, EchoMQError
from queue_core.exchange import (
    Learn,
    Rounds,
    Send,
    blocking,
    exchange,
    lockstep,
    noted,
    permit,
    settled,
    straight,
    unused,
)
from queue_core.plans import Batch, Call, Plan, Reply, Step, Wait
from queue_core.pools import Pools, subscribed
from queue_core.servers import Kind, Servers, parse
from queue_core.watches import Watch

T = TypeVar("T")

_buses: weakref.WeakSet[Bus] = weakref.WeakSet()


def connect(
    url: str,
    *,
    observe: bool = False,
    fence: str = fencing.DEFAULT,
    connect_timeout_ms: int = 3000,
    command_timeout_ms: int = 5000,
) -> Bus:
    """A bus, once its first connection stands.

    `observe`: it only ever looks; a call that may write is refused before it is sent.
    Raises `InvalidError` for a URL that says nothing, `UnavailableError` where nobody answers,
    `ForbiddenFault` for a login that is refused, `FenceError` for another wire version.
    """
    bus = Bus(parse(url), observe, fence, connect_timeout_ms / 1000, command_timeout_ms / 1000)
    try:
        bus.greet()
    except BaseException:
        bus.close()
        raise
    return bus


class Bus:
    """See the module. Made by `connect`."""

    def __init__(
        self, servers: Servers, observe: bool, fence: str, connect_s: float, command_s: float
    ) -> None:
        self.url_safe = servers.safe
        self.observe = observe
        self._pools = Pools(servers, fence, connect_s, command_s)
        self._routes = self._pools.routes
        _buses.add(self)

    # ---- what callers use ------------------------------------------------------------------

    def run(self, plan: Plan[T]) -> T:
        """Run a plan to its result. A fault is thrown into it, and out of here if it does not
        take it."""
        unused(plan)
        try:
            step = next(plan)
            while True:
                try:
                    reply = self._answer(step)
                except EchoMQError as fault:
                    step = plan.throw(fault)
                else:
                    step = plan.send(reply)
        except StopIteration as end:
            result: T = end.value
            return result

    def run_all(self, plans: Sequence[Plan[Any]]) -> list[Any]:
        """Run plans in lockstep, one pipeline per node and round: results in order, a plan that
        failed as its `EchoMQError`. No order among them is promised: a call that has to be sent
        again, for a script that the server lacks or a slot that moved, comes after the others of
        its round."""
        rounds = lockstep(plans)
        try:
            calls = next(rounds)
            while True:
                calls = rounds.send(self._exchange(calls))
        except StopIteration as end:
            results: list[Any] = end.value
            return results

    @property
    def shards(self) -> bool:
        """Whether its keys are, or may come to be, on several servers: those of a Cluster."""
        return self._routes.servers.kind is Kind.cluster

    def primaries(self) -> tuple[str, ...]:
        """The names of the nodes that write now: one, or those of the Cluster."""
        return self._routes.primaries

    def listen(self, channels: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """What is published on these channels from now on: (channel, message) as it comes.

        The subscription is in force when this returns. The iterator raises `UnavailableError`
        when the line breaks: subscribe anew, and look at what was missed. Close it to end it.
        """
        if not self._routes.current():
            self._pools.learn()
        return subscribed(self._pools.take(self._routes.primaries[0]), channels)

    def watch(self, key: bytes, nudged: bool = True) -> Watch:
        """A line beside the others that hears at once when something of `key`'s slot changes."""
        return Watch(self._pools, key, nudged)

    def close(self) -> None:
        """Give up the idle connections, and those in use when they come back."""
        self._pools.close()

    def greet(self) -> None:
        """Have a connection to the fence's owner, learning first who that is."""
        if not self._routes.current():
            self._pools.learn()
        self._pools.put(self._pools.take(self._routes.fence_owner()))

    def forked(self) -> None:
        """Leave the connections to the parent: their answers would mix."""
        self._pools.forked()

    # ---- steps -----------------------------------------------------------------------------

    def _answer(self, step: Step) -> Reply:
        if type(step) is Call:
            return self._one(step)
        if isinstance(step, Batch):
            return self._exchange(step.calls, step.meanwhile)
        if isinstance(step, Wait):
            return self._wait(step)
        raise ContractError(f"a plan yielded {step!r}")

    def _one(self, call: Call) -> Reply:
        """One call: straight to its node, and around by `exchange` only where that refuses."""
        if self._routes.current():
            if self.observe:
                permit(call)
            answer = settled(call, self._pools.sent([straight(call, self._routes)])[0][0])
            if not isinstance(answer, EchoMQError):
                return answer
            if not noted(answer, self._routes):
                raise answer
        answer = self._exchange((call,))[0]
        if isinstance(answer, EchoMQError):
            raise answer
        return answer

    def _exchange(
        self, calls: Sequence[Call], meanwhile: Callable[[], None] | None = None
    ) -> list[Reply | EchoMQError]:
        for call in calls if self.observe else ():
            permit(call)
        rounds = exchange(calls, self._routes)
        try:
            todo = next(rounds)
            while True:
                todo = self._round(rounds, todo, meanwhile)
        except StopIteration as end:
            replies: list[Reply | EchoMQError] = end.value
            return replies

    def _round(
        self, rounds: Rounds, todo: list[Send] | Learn, meanwhile: Callable[[], None] | None
    ) -> list[Send] | Learn:
        if not isinstance(todo, Learn):
            return rounds.send(self._pools.sent(todo, meanwhile=meanwhile))
        try:
            self._pools.learn()
        except EchoMQError as fault:
            return rounds.throw(fault)
        return rounds.send(None)

    def _wait(self, step: Wait) -> Reply:
        call, within_s = blocking(step)
        if self.observe:
            permit(call)
        if not self._routes.current():
            self._pools.learn()
        send = straight(call, self._routes)
        answer = settled(call, self._pools.sent([send], within_s)[0][0])
        if isinstance(answer, EchoMQError):
            noted(answer, self._routes)
            raise answer
        return answer


def _forked() -> None:
    for bus in _buses:
        bus.forked()


os.register_at_fork(after_in_child=_forked)
