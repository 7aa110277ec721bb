"""Both buses behind one face, and a watch on what reaches a server."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from queue_core.async_bus import AsyncBus, async_connect
from queue_core.bus import connect
from queue_core.links import Link
from queue_core.plans import Call, Plan
from queue_core.servers import Address
from tests.servers import ask


class Servers(Protocol):
    """What a test needs of servers, whatever their kind."""

    @property
    def url(self) -> str: ...
    def ports(self) -> list[int]: ...


class Blocking:
    """The blocking bus."""

    def __init__(self, url: str, **options: Any) -> None:
        self.bus = connect(url, **options)
        self.run = self.bus.run
        self.run_all = self.bus.run_all
        self.close = self.bus.close

    @contextlib.contextmanager
    def listening(self, channel: bytes) -> Iterator[Callable[[], tuple[bytes, bytes]]]:
        """A subscription in force; call it for the next message."""
        messages = self.bus.listen([channel])
        try:
            yield lambda: next(messages)
        finally:
            messages.close()


class Awaited:
    """The awaited bus, for tests that do not await."""

    def __init__(self, url: str, **options: Any) -> None:
        self.loop = asyncio.Runner()
        try:
            self.bus: AsyncBus = self.loop.run(async_connect(url, **options))
        except BaseException:
            self.loop.close()
            raise

    def run(self, plan: Plan[Any]) -> Any:
        """One plan."""
        return self.loop.run(self.bus.run(plan))

    def run_all(self, plans: Sequence[Plan[Any]]) -> list[Any]:
        """Plans in lockstep."""
        return self.loop.run(self.bus.run_all(plans))

    @contextlib.contextmanager
    def listening(self, channel: bytes) -> Iterator[Callable[[], tuple[bytes, bytes]]]:
        """A subscription in force; call it for the next message."""
        messages = self.bus.listen([channel])

        async def begun() -> asyncio.Task[tuple[bytes, bytes]]:
            first = asyncio.ensure_future(anext(messages))
            while not await self.bus.run(_listeners(channel)):  # noqa: ASYNC110 (a server's event)
                await asyncio.sleep(0.005)
            return first

        async def following() -> tuple[bytes, bytes]:
            return await (first.pop() if first else anext(messages))

        first = [self.loop.run(begun())]
        try:
            yield lambda: self.loop.run(following())
        finally:
            self.loop.run(messages.aclose())

    def close(self) -> None:
        """Bus and loop."""
        self.loop.run(self.bus.close())
        self.loop.close()


def _listeners(channel: bytes) -> Plan[int]:
    _, count = yield Call("PUBSUB", (), ("NUMSUB", channel))
    return int(count)


@contextlib.contextmanager
def watched(servers: Servers) -> Iterator[Callable[[], list[str]]]:
    """Everything that reaches the primaries; call it for the lines since the last call."""
    lines = [(port, Link(Address("127.0.0.1", port), 5.0)) for port in servers.ports()]
    for _, line in lines:
        line.send([("MONITOR",)])
        line.read()

    def seen() -> list[str]:
        mark = secrets.token_hex(8)
        found: list[str] = []
        for port, line in lines:
            ask(port, "ECHO", mark)
            while mark not in (said := line.read().decode()):
                found.append(said)
        return found

    try:
        yield seen
    finally:
        for _, line in lines:
            line.close()
