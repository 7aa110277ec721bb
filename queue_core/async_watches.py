"""Hearing at once that something has changed, in an event loop: as `watches.py`, awaited."""

from __future__ import annotations

import asyncio
from typing import Protocol

from queue_core.async_links import AsyncLink
from queue_core.async_pools import AsyncPools
from queue_core.errors import EchoMQError, ServerFault, UnavailableError
from queue_core.exchange import Cut, noted, words_of
from queue_core.plans import Call, Reply
from queue_core.routes import Words


class AsyncWatches(Protocol):
    """A bus that gives watches."""

    def watch(self, key: bytes, event: asyncio.Event) -> AsyncWatch:
        """A line that sets `event` when something of the key's slot changes."""


class AsyncWatch:
    """One watching line. Used by one task at a time. It opens when first used, and anew after a
    fault.

    `tracks` turns False where the server refuses to tell; `heard` is whether what was looked at
    has changed since, or may have, the line being lost.
    """

    def __init__(self, pools: AsyncPools, key: bytes, event: asyncio.Event) -> None:
        self.tracks = True
        self.heard = False
        self._pools = pools
        self._key = key
        self._event = event
        self._link: AsyncLink | None = None

    async def look(self, call: Call) -> Reply | None:
        """Run a pure read; what it read is watched from now on, and what was heard so far is
        forgotten. None where the server does not tell, so that looking is no use. Raises as
        `AsyncBus.run`."""
        link = await self._stand()
        if not self.tracks:
            return None
        self.heard = False
        answer = (await self._asked(link, [words_of(call)]))[0]
        if isinstance(answer, ServerFault) and answer.code == "NOSCRIPT" and call.script:
            load: Words = ("SCRIPT", "LOAD", call.script.source)
            answer = (await self._asked(link, [load, words_of(call)]))[1]
        if isinstance(answer, EchoMQError):
            noted(answer, self._pools.routes)
            self.close()
            raise answer
        return answer

    def close(self) -> None:
        """Give it up."""
        link, self._link = self._link, None
        if link is not None:
            link.told = None
            link.close()

    def _told(self) -> None:
        self.heard = True
        self._event.set()

    async def _stand(self) -> AsyncLink:
        """The line, opened where there is none."""
        if self._link is not None and self._link.stands:
            return self._link
        self.close()
        routes = self._pools.routes
        if not routes.current():
            await self._pools.learn()
        link = await self._pools.fresh(routes.node_of(Call("EXISTS", (self._key,))))
        self._link = link
        said = await self._asked(link, [("HELLO", 3), ("CLIENT", "TRACKING", "ON")])
        self.tracks = not any(isinstance(answer, EchoMQError) for answer in said)
        link.resp3 = link.resp3 or not isinstance(said[0], EchoMQError)
        link.told = self._told
        return link

    async def _asked(self, link: AsyncLink, commands: list[Words]) -> list[Reply]:
        answers = await self._pools.asked(link, commands)
        if isinstance(answers[-1], Cut | UnavailableError):
            self.close()
            raise UnavailableError("LOST", f"{link.node}: the watching line broke")
        return list(answers)
