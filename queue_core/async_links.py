"""One awaited connection: replies are matched to what was asked in the order it was asked, so
many tasks share it and their commands travel together."""

from __future__ import annotations

import asyncio
import select
import ssl
from collections import deque
from collections.abc import Callable
from typing import Any

import hiredis

from queue_core.errors import UnavailableError
from queue_core.exchange import Answer, Cut
from queue_core.links import NOT_YET, packed, reader
from queue_core.plans import Reply
from queue_core.remedies import of_greeting, of_silence
from queue_core.replies import plain
from queue_core.routes import Words
from queue_core.servers import Address

HELD = 1024
"""Messages kept for a slow listener before the socket is left unread."""


SILENT_S = 0.1
"""A line whose time is up is given up once it has been silent for so long."""


class _Asked:
    """A pipeline that waits for its replies."""

    __slots__ = ("answers", "deadline", "future", "size")

    def __init__(self, size: int, future: asyncio.Future[list[Answer]], deadline: float) -> None:
        self.size = size
        self.future = future
        self.deadline = deadline
        self.answers: list[Answer] = []

    def end(self, why: str) -> None:
        """Give what came; the rest was cut."""
        if not self.future.done():
            self.answers += [Cut(why)] * (self.size - len(self.answers))
            self.future.set_result(self.answers)


class AsyncLink(asyncio.Protocol):
    """One connection to one server, shared by the tasks of one loop.

    `node` is its server's name; `claimed` whether the version fence was seen to be ours. `told` is
    called with whatever the server says unasked, and with None when the line breaks.
    """

    def __init__(self, node: str) -> None:
        self.node = node
        self.claimed = False
        self.resp3 = False
        self.told: Callable[[Reply], None] | None = None
        self.messages: asyncio.Queue[Reply] | None = None
        self._loop = asyncio.get_running_loop()
        self._reader = reader()
        self._asked: deque[_Asked] = deque()
        self._transport: asyncio.Transport
        self._poll = select.poll()
        self._lost: str | None = None
        self._came = False
        self._watch: asyncio.TimerHandle | None = None
        self._room: asyncio.Future[None] | None = None

    @classmethod
    async def open(
        cls, address: Address, timeout_s: float, context: ssl.SSLContext | None
    ) -> AsyncLink:
        """Connect. `UnavailableError` with code CONNECT where nobody answers."""
        loop = asyncio.get_running_loop()
        link = cls(address.name)
        host = address.host
        try:
            async with asyncio.timeout(timeout_s):
                if address.port:
                    await loop.create_connection(lambda: link, host, address.port, ssl=context)
                else:
                    await loop.create_unix_connection(lambda: link, host)
        except OSError as error:
            mend = of_greeting(error) if context else ""
            why = f"cannot connect to {link.node}: {of_silence(error)}{mend}"
            raise UnavailableError("CONNECT", why) from None
        return link

    # ---- what the pool uses ----------------------------------------------------------------

    def lives(self) -> bool:
        """Whether it may be used: it stands, and nothing unasked came in while it rested."""
        if not self.stands:
            return False
        return bool(self._asked) or not self._poll.poll(0)

    @property
    def stands(self) -> bool:
        """Whether the line is there; something unasked may have come in."""
        return self._lost is None and not self._transport.is_closing()

    async def ask(self, commands: list[Words], within_s: float) -> list[Answer]:
        """Send a pipeline and await its replies. What got no reply is a `Cut`; nothing was sent
        where the first is `UnavailableError` with code CONNECT."""
        size = len(commands)
        if self._lost is not None:
            gone = UnavailableError("CONNECT", f"{self.node}: {self._lost}")
            return [gone] * size
        asked = _Asked(size, self._loop.create_future(), self._loop.time() + within_s)
        self._asked.append(asked)
        self._attend(asked.deadline)
        self._transport.write(packed(commands))
        if self._room is not None:
            await asyncio.shield(self._room)
        return await asked.future

    def tell(self, commands: list[Words]) -> None:
        """Send what nobody awaits; a listener's answers are among its messages."""
        self._transport.write(packed(commands))

    def close(self) -> None:
        """Give it up at once."""
        self._transport.abort()

    def resume(self) -> None:
        """The listener has caught up."""
        if self.messages is not None and self.messages.qsize() < HELD // 2:
            self._transport.resume_reading()

    # ---- what the loop calls ---------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        """The line stands."""
        self._transport = transport
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        """Replies, in whole or in part."""
        parser = self._reader
        parser.feed(data)
        self._came = True
        try:
            reply = parser.gets()
            while reply is not NOT_YET:
                self._take(reply)
                reply = parser.gets()
        except ConnectionError as error:
            self._lost = f"no reply of a server: {error}"
            self._transport.abort()

    def _take(self, reply: Reply) -> None:
        if self.messages is not None:
            self.messages.put_nowait(list(reply) if isinstance(reply, list) else reply)
            if self.messages.qsize() >= HELD:
                self._transport.pause_reading()
            return
        if type(reply) is hiredis.PushNotification or not self._asked:
            if self.told is not None:
                self.told(list(reply) if isinstance(reply, list) else reply)
            return
        asked = self._asked[0]
        asked.answers.append(plain(reply) if self.resp3 else reply)
        if len(asked.answers) == asked.size:
            self._asked.popleft()
            if not asked.future.done():  # whoever asked may have been cancelled
                asked.future.set_result(asked.answers)

    def connection_lost(self, exc: Exception | None) -> None:
        """The line broke: everything under way is in doubt."""
        self._lost = why = self._lost or str(exc or "the server closed the connection")
        if self._watch is not None:
            self._watch.cancel()
        self.resume_writing()
        while self._asked:
            self._asked.popleft().end(why)
        if self.told is not None:
            self.told(None)
        if self.messages is not None:
            self.messages.put_nowait(UnavailableError("LOST", f"{self.node}: {why}"))

    def pause_writing(self) -> None:
        """The server reads too slowly: hold those who would send more."""
        self._room = self._loop.create_future()

    def resume_writing(self) -> None:
        """There is room again."""
        room, self._room = self._room, None
        if room is not None and not room.done():
            room.set_result(None)

    def _attend(self, deadline: float) -> None:
        """Look at this time whether something is overdue, if not before."""
        if self._watch is not None:
            if self._watch.when() <= deadline:
                return
            self._watch.cancel()
        self._watch = self._loop.call_at(deadline, self._late)

    def _late(self) -> None:
        """Look whether the oldest question is overdue: then the line is given up."""
        self._watch = None
        if not self._asked:
            return
        if self._asked[0].deadline > self._loop.time():
            self._attend(self._asked[0].deadline)
        elif self._came or self._poll.poll(0):  # it answers; it may be we who are late
            self._came = False
            self._attend(self._loop.time() + SILENT_S)
        else:
            self._lost = "time is up"
            self._transport.abort()
