"""The awaited bus: runs plans over one server, Sentinel or Cluster (docs/operations.md).

Belongs to one event loop. Tasks share a connection per node, their commands travel together; a
blocking pop and a subscription have a connection of their own. What is sent is never sent twice,
as in `bus.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, TypeVar

from queue_core import fence as fencing
from queue_core.async_pools import AsyncPools, heard
from queue_core.async_watches import AsyncWatch
from queue_core.errors import ContractError, EchoMQError
from queue_core.exchange import (
    Learn,
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
from queue_core.servers import Kind, Servers, parse

T = TypeVar("T")


async def async_connect(
    url: str,
    *,
    observe: bool = False,
    fence: str = fencing.DEFAULT,
    connect_timeout_ms: int = 3000,
    command_timeout_ms: int = 5000,
) -> AsyncBus:
    """A bus, once its first connection stands. Options and faults as of `bus.connect`."""
    servers = parse(url)
    bus = AsyncBus(servers, observe, fence, connect_timeout_ms / 1000, command_timeout_ms / 1000)
    try:
        await bus.greet()
    except BaseException:
        await bus.close()
        raise
    return bus


class AsyncBus:
    """See the module. Made by `async_connect`."""

    def __init__(
        self, servers: Servers, observe: bool, fence: str, connect_s: float, command_s: float
    ) -> None:
        self.url_safe = servers.safe
        self.observe = observe
        self._pools = AsyncPools(servers, fence, connect_s, command_s)
        self._routes = self._pools.routes

    # ---- what callers use ------------------------------------------------------------------

    async def run(self, plan: Plan[T]) -> T:
        """Run a plan to its result. A fault is thrown into it, and out of here if it does not
        take it."""
        unused(plan)
        try:
            step = next(plan)
            while True:
                try:
                    reply = await self._answer(step)
                except EchoMQError as fault:
                    step = plan.throw(fault)
                else:
                    step = plan.send(reply)
        except StopIteration as end:
            result: T = end.value
            return result

    async def run_all(self, plans: Sequence[Plan[Any]]) -> list[Any]:
        """Run plans in lockstep, one pipeline per node and round: results in order, a plan that
        failed as its `EchoMQError`. No order among them is promised: a call that has to be sent
        again, for a script that the server lacks or a slot that moved, comes after the others of
        its round."""
        rounds = lockstep(plans)
        try:
            calls = next(rounds)
            while True:
                calls = rounds.send(await self._exchange(calls))
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

    async def listen(self, channels: Sequence[bytes]) -> AsyncIterator[tuple[bytes, bytes]]:
        """What is published on these channels from now on: (channel, message) as it comes.

        Raises `UnavailableError` when the line breaks: subscribe anew, and look at what was
        missed. Close it, or cancel whoever iterates, to end it.
        """
        if not self._routes.current():
            await self._pools.learn()
        link = await self._pools.fresh(self._routes.primaries[0])
        async for message in heard(link, channels):
            yield message

    def watch(self, key: bytes, event: asyncio.Event) -> AsyncWatch:
        """A line beside the others that sets `event` at once when something of `key`'s slot
        changes."""
        return AsyncWatch(self._pools, key, event)

    async def close(self) -> None:
        """Give every connection up."""
        await self._pools.close()

    async def greet(self) -> None:
        """Have a connection to the fence's owner, learning first who that is."""
        if not self._routes.current():
            await self._pools.learn()
        await self._pools.shared(self._routes.fence_owner())

    # ---- steps -----------------------------------------------------------------------------

    async def _answer(self, step: Step) -> Reply:
        if type(step) is Call:
            return await self._one(step)
        if isinstance(step, Batch):
            if step.meanwhile is not None:
                asyncio.get_running_loop().call_soon(step.meanwhile)
            return await self._exchange(step.calls)
        if isinstance(step, Wait):
            return await self._wait(step)
        raise ContractError(f"a plan yielded {step!r}")

    async def _one(self, call: Call) -> Reply:
        """One call: straight to its node, and around by `exchange` only where that refuses."""
        if self._routes.current():
            if self.observe:
                permit(call)
            answer = settled(call, (await self._pools.sent([straight(call, self._routes)]))[0][0])
            if not isinstance(answer, EchoMQError):
                return answer
            if not noted(answer, self._routes):
                raise answer
        answer = (await self._exchange((call,)))[0]
        if isinstance(answer, EchoMQError):
            raise answer
        return answer

    async def _exchange(self, calls: Sequence[Call]) -> list[Reply | EchoMQError]:
        for call in calls if self.observe else ():
            permit(call)
        rounds = exchange(calls, self._routes)
        try:
            todo = next(rounds)
            while True:
                if not isinstance(todo, Learn):
                    todo = rounds.send(await self._pools.sent(todo))
                    continue
                try:
                    await self._pools.learn()
                except EchoMQError as fault:
                    todo = rounds.throw(fault)
                else:
                    todo = rounds.send(None)
        except StopIteration as end:
            replies: list[Reply | EchoMQError] = end.value
            return replies

    async def _wait(self, step: Wait) -> Reply:
        call, within_s = blocking(step)
        if self.observe:
            permit(call)
        if not self._routes.current():
            await self._pools.learn()
        send = straight(call, self._routes)
        answer = settled(call, (await self._pools.blocked(send, within_s))[0])
        if isinstance(answer, EchoMQError):
            noted(answer, self._routes)
            raise answer
        return answer
