"""Hearing at once that something has changed, in an event loop: as `watches.py`, awaited."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

from queue_core import watches
from queue_core.async_links import AsyncLink
from queue_core.async_pools import AsyncPools
from queue_core.errors import EchoMQError, ForbiddenFault, ServerFault, UnavailableError
from queue_core.exchange import WAIT_SLACK_S, Cut, code_of, noted, words_of
from queue_core.plans import Call, Reply
from queue_core.routes import Words
from queue_core.watches import ANY, TRACK, UNTOLD, told_of, tracking


class AsyncWatches(Protocol):
    """A bus that gives watches."""

    def watch(self, key: bytes, event: asyncio.Event) -> AsyncWatch:
        """A line that sets `event` when something of the key's slot changes."""


class AsyncWatch:
    """One watching line. Used by one task at a time. It opens when first used, and anew after a
    fault.

    `tracks` turns False where the server refuses to tell. A line that fell silent, neither closed
    nor answering, is noticed by the next look, once a command's time is up.
    """

    def __init__(self, pools: AsyncPools, key: bytes, event: asyncio.Event) -> None:
        self.tracks = True
        self._changed: list[bytes] = []
        self._pools = pools
        self._key = key
        self._event = event
        self._link: AsyncLink | None = None
        self._popping_until: float | None = None

    async def look(self, call: Call) -> Reply | None:
        """Run a pure read; the keys of its slot that it read are watched from now on, and what was
        heard of `call.keys` so far is forgotten. None where the server does not tell, or not now,
        so that only looking again tells more. Raises as `AsyncBus.run`."""
        answer = await self._looked(call)
        if isinstance(answer, EchoMQError) and code_of(answer) == "MOVED":
            answer = await self._looked(call)
        if not isinstance(answer, EchoMQError):
            return answer
        if code_of(answer) in UNTOLD:
            return None
        raise answer

    async def _looked(self, call: Call) -> Reply | EchoMQError | None:
        """The answer; the line is given up where it is a fault."""
        link = await self._stand()
        # Before the question: what comes with its answer may have happened after it.
        self._changed = [key for key in self._changed if key not in call.keys]
        if not self.tracks:
            return None
        answer = (await self._asked(link, [words_of(call)]))[0]
        if isinstance(answer, ServerFault) and answer.code == "NOSCRIPT" and call.script:
            load: Words = ("SCRIPT", "LOAD", call.script.source)
            answer = (await self._asked(link, [load, words_of(call)]))[1]
        if isinstance(answer, ForbiddenFault):
            self.tracks = False
            return None
        if isinstance(answer, EchoMQError):
            noted(answer, self._pools.routes)
            self.close()
        return answer

    @property
    def heard(self) -> bool:
        """Whether something has changed, or may have, the line being lost, and was not taken."""
        return bool(self._changed)

    def taken(self) -> list[bytes]:
        """The keys that have changed, `ANY` for it may be any; each is answered once."""
        changed, self._changed = self._changed, []
        return changed

    def park(self, wake: bytes) -> None:
        """Where the server does not tell: hear of a wake list, for `POP_S` at most; `event` is set
        then, too. A pop that waits already, or no line, leaves it at that."""
        link, now = self._link, time.monotonic()
        if link is None or not link.stands:
            return
        if self._popping_until is None:
            link.tell([("BLPOP", wake, f"{watches.POP_S:.3f}")])
            self._popping_until = now + watches.POP_S + WAIT_SLACK_S
        elif now > self._popping_until:
            self.close()
            self._event.set()

    def close(self) -> None:
        """Give it up."""
        link, self._link = self._link, None
        if link is not None:
            self._changed.append(ANY)  # nothing tells any more of what was looked at
            link.told = None
            link.close()

    # ---- the line ----------------------------------------------------------------------------

    def _told(self, said: Reply) -> None:
        self._popping_until = None
        stands = self._link is not None and self._link.stands
        self._changed += told_of(said) if stands else [ANY]
        self._event.set()

    async def _stand(self) -> AsyncLink:
        """The line, opened where there is none, and anew where another server serves the key by
        now."""
        routes = self._pools.routes
        if not routes.current():
            await self._pools.learn()
        node = routes.node_of(Call("EXISTS", (self._key,)))
        if self._link is not None and self._link.stands and self._link.node == node:
            return self._link
        if self._link is not None:
            self._event.set()  # others may share the line, which tells them nothing more
        self.close()
        try:
            link = await self._pools.fresh(node)
            self._link, self._popping_until = link, None
            self.tracks = tracking(await self._asked(link, TRACK))
        except EchoMQError as fault:
            noted(fault, routes)
            self.close()
            raise
        link.resp3 = link.resp3 or self.tracks
        link.told = self._told
        return link

    async def _asked(self, link: AsyncLink, commands: list[Words]) -> list[Reply]:
        """Answers; a line that broke is given up, and another server may serve by now."""
        answers = await self._pools.asked(link, commands)
        if isinstance(answers[-1], Cut | UnavailableError) and not link.stands:
            self.close()
            self._pools.routes.stale = self._pools.routes.can_learn
            why = answers[-1].why if isinstance(answers[-1], Cut) else answers[-1]
            raise UnavailableError("LOST", f"the watching line: {why}")
        return list(answers)
