"""The awaited connections of one bus: one per node that everybody shares, greeted and fenced when
it opens, and some that block or listen alone."""

from __future__ import annotations

import asyncio
import ssl
import weakref
from collections.abc import AsyncIterator, Sequence

from queue_core import fence as fencing
from queue_core import greeting
from queue_core.async_links import AsyncLink
from queue_core.errors import EchoMQError, UnavailableError
from queue_core.exchange import Answer, Cut, Send
from queue_core.plans import Reply
from queue_core.pools import ANSWER_S, DOUBT_ASK_S, LISTEN_S
from queue_core.routes import Ask, Routes, Words
from queue_core.servers import Address, Servers


class AsyncPools:
    """Connections to the servers of one bus, and what is known of those."""

    def __init__(self, servers: Servers, fence: str, connect_s: float, command_s: float) -> None:
        self.routes = Routes(servers)
        self._servers = servers
        self._fence = fence
        self._connect_s = connect_s
        self._doubt_s = min(connect_s, DOUBT_ASK_S)
        self._command_s = command_s
        self._tls: ssl.SSLContext | None = servers.tls.context() if servers.tls else None
        self._shared: dict[str, AsyncLink] = {}
        self._opening: dict[str, asyncio.Lock] = {}
        self._blocking: dict[str, list[AsyncLink]] = {}
        self._open: weakref.WeakSet[AsyncLink] = weakref.WeakSet()
        self._learning = asyncio.Lock()
        self._closed = False

    # ---- pipelines -------------------------------------------------------------------------

    async def sent(self, sends: Sequence[Send]) -> list[list[Answer]]:
        """One round: every node's pipeline goes out, then all answers are awaited."""
        if len(sends) == 1:
            return [await self._sent(sends[0])]
        return list(await asyncio.gather(*map(self._sent, sends)))

    async def _sent(self, send: Send) -> list[Answer]:
        try:
            link = await self.shared(send.node)
            if send.writes and not link.claimed:
                await self._claim(link)
        except EchoMQError as fault:
            return [fault] * len(send.words)
        return self._noted(await link.ask(send.words, self._command_s))

    async def blocked(self, send: Send, within_s: float) -> list[Answer]:
        """A pipeline that makes the server wait, on a connection that nobody else uses."""
        idle = self._blocking.setdefault(send.node, [])
        try:
            link = idle.pop() if idle else await self.fresh(send.node)
            if not link.lives():
                link.close()
                link = await self.fresh(send.node)
        except EchoMQError as fault:
            return [fault] * len(send.words)
        try:
            if not link.claimed:
                await self._claim(link)
            answers = self._noted(await link.ask(send.words, within_s))
        except EchoMQError as fault:
            link.close()
            return [fault] * len(send.words)
        except BaseException:
            link.close()
            raise
        if self._closed or send.node not in self.routes.addresses:
            link.close()
        elif link.lives():
            self._blocking.setdefault(send.node, []).append(link)
        return answers

    def _noted(self, answers: list[Answer]) -> list[Answer]:
        """After a broken line of a Cluster or a Sentinel, ask who serves now."""
        if answers and isinstance(answers[-1], Cut) and self.routes.can_learn:
            self.routes.stale = True
        return answers

    # ---- lines -----------------------------------------------------------------------------

    async def shared(self, node: str) -> AsyncLink:
        """The connection to a node that everybody shares."""
        link = self._shared.get(node)
        if link is not None and link.lives():
            return link
        async with self._opening.setdefault(node, asyncio.Lock()):
            link = self._shared.get(node)
            if link is None or not link.lives():
                if link is not None:
                    link.close()
                link = self._shared[node] = await self.fresh(node)
        return link

    async def fresh(self, node: str) -> AsyncLink:
        """A new connection: the greeting, and the fence before anything else."""
        self._serves()
        link = await self._plain(self.routes.address_of(node), self._connect_s)
        self._open.add(link)
        try:
            here = self.routes.fence_owner() == node
            said = greeting.words(self._servers, fenced=here)
            answers = await self._ask(link, said, self._connect_s)
            link.claimed = greeting.heard(self._servers, self._fence, said, answers)
            link.resp3 = self._servers.protocol == 3
            if not here:
                owner = await self.shared(self.routes.fence_owner())
                answer = (await self._ask(owner, [fencing.READ], self._command_s))[0]
                link.claimed = fencing.claimed(self._fence, answer)
            self._serves()  # it may have been closed meanwhile
        except BaseException:
            link.close()
            raise
        return link

    def _serves(self) -> None:
        """Refuse where this bus has been closed."""
        if self._closed:
            raise UnavailableError("CLOSED", "this bus has been closed")

    async def _plain(self, address: Address, within_s: float) -> AsyncLink:
        return await AsyncLink.open(address, within_s, self._tls)

    async def _claim(self, link: AsyncLink) -> None:
        """Claim the fence before the first write of a connection."""
        claim = fencing.claim(self._fence)
        owner, at = link, self.routes.fence_owner()
        if at != link.node:
            owner = await self.shared(at)
        try:
            fencing.took(self._fence, await self._ask(owner, claim, self._command_s))
        except EchoMQError:  # one that was cancelled leaves the line to those who share it
            link.close()
            raise
        link.claimed = True

    async def asked(self, link: AsyncLink, words: list[Words]) -> list[Answer]:
        """Commands on a line that its user keeps, with the time a command may take."""
        return await link.ask(words, self._command_s)

    async def _ask(self, link: AsyncLink, words: list[Words], within_s: float) -> list[Reply]:
        """Commands of our own; a broken line is `UnavailableError`."""
        answers = await link.ask(words, within_s)
        if isinstance(answers[-1], Cut):
            raise UnavailableError("CONNECT", f"{link.node}: {answers[-1].why}")
        return answers

    # ---- who serves ------------------------------------------------------------------------

    async def learn(self) -> None:
        """Ask who serves what; one task asks. Where what is known has failed the others wait for
        it; where it is only in doubt they go on with it."""
        if self._learning.locked() and not self.routes.stale:
            return
        async with self._learning:
            if not self.routes.current():
                await self._learn(self._connect_s if self.routes.stale else self._doubt_s)

    async def _learn(self, within_s: float) -> None:
        self._serves()
        asking = self.routes.learn()
        try:
            question = next(asking)
            while True:
                question = asking.send(await self._inquire(question, within_s))
        except StopIteration:
            pass
        for node in set(self._shared) - set(self.routes.addresses):
            self._shared.pop(node).close()
        for node in set(self._blocking) - set(self.routes.addresses):
            for link in self._blocking.pop(node):
                link.close()

    async def _inquire(self, question: Ask, within_s: float) -> Reply:
        """One question on a connection of its own, which carries nothing else."""
        servers = self._servers.for_asking()
        try:
            link = await self._plain(question.address, within_s)
            try:
                said = greeting.words(servers, fenced=False)
                answers = await self._ask(link, said, within_s)
                greeting.heard(servers, self._fence, said, answers)
                return (await self._ask(link, [question.words], within_s))[0]
            finally:
                link.close()
        except EchoMQError as fault:
            return fault

    async def close(self) -> None:
        """Give every connection up."""
        self._closed = True
        self._shared.clear()
        self._blocking.clear()
        for link in list(self._open):
            link.close()
        await asyncio.sleep(0)  # the loop closes the sockets on its next turn


async def heard(link: AsyncLink, channels: Sequence[bytes]) -> AsyncIterator[tuple[bytes, bytes]]:
    """Subscribe on a connection that from now on does nothing else, and give what comes."""
    messages: asyncio.Queue[Reply] = asyncio.Queue()
    link.messages = messages
    try:
        link.tell([("SUBSCRIBE", *channels)])
        asked = False
        while True:
            try:
                async with asyncio.timeout(ANSWER_S if asked else LISTEN_S):
                    said = await messages.get()
            except TimeoutError:
                if asked:
                    raise UnavailableError("LOST", f"{link.node}: silent") from None
                asked = True
                link.tell([("PING",)])
                continue
            asked = False
            link.resume()
            if isinstance(said, EchoMQError):
                raise said
            if isinstance(said, list) and len(said) == 3 and said[0] == b"message":
                yield said[1], said[2]
    finally:
        link.close()
