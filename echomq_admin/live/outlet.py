"""What one socket is sent: a slot per topic that holds no frame but how far the socket is.

One writer sends what each view has beyond that, at most four times a second. A socket that has
not acknowledged eight frames is sent nothing until it does, and then all of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from echomq_admin.live.frames import View
from echomq_admin.live.observatory import observatory
from echomq_admin.live.page import Page, Watch

CREDIT = 8
GAP_S = 0.25
TOPICS = 8
"""Topics of one socket; a page watches one."""


class Slot:
    """How far a socket is with one topic."""

    def __init__(self, page: Page, watch: Watch) -> None:
        self.page = page
        self.watch = watch
        self.view: View | None = None
        self.version = 0
        self.seq = 0
        self.acked = 0

    @property
    def due(self) -> bool:
        """Whether the view has news for this socket and the socket has credit for it."""
        if self.view is None or self.seq - self.acked >= CREDIT:
            return False
        return self.view.state.version > self.version


class Outlet:
    """Slots of one socket and its one writer. Lives on the socket's loop."""

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        self.slots: dict[str, Slot] = {}
        self._send = send
        self._visible = True
        self._news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._writer = asyncio.create_task(self._write())

    def wake(self) -> None:
        """A view has news; from any thread."""
        self._loop.call_soon_threadsafe(self._news.set)

    async def add(self, page: Page, watch: Watch) -> None:
        """Subscribe; the first frame is whole. Beyond `TOPICS` nothing is added."""
        if len(self.slots) < TOPICS and watch.topic not in self.slots:
            slot = self.slots[watch.topic] = Slot(page, watch)
            if self._visible:
                await self._join(slot)

    def remove(self, topic: str) -> None:
        """Unsubscribe."""
        if slot := self.slots.pop(topic, None):
            self._leave(slot)

    def ack(self, topic: str, seq: int) -> None:
        """All frames of a topic up to `seq` have been applied. A socket that had run out of
        credit is sent everything: what it missed is older than what is true now."""
        slot = self.slots.get(topic)
        if slot is not None and slot.acked < seq <= slot.seq:
            if slot.seq - slot.acked >= CREDIT:
                slot.version = 0
            slot.acked = seq
            self._news.set()

    def snapshot(self, topic: str) -> None:
        """Send the whole of a topic: the socket saw a gap."""
        if slot := self.slots.get(topic):
            slot.version, slot.acked = 0, slot.seq
            self._news.set()

    async def show(self, visible: bool) -> None:
        """A hidden tab looks at nothing; one that is back is sent everything."""
        self._visible = visible
        for slot in self.slots.values():
            if not visible:
                self._leave(slot)
            elif slot.view is None:
                await self._join(slot)

    async def close(self) -> None:
        """Leave everything and stop writing."""
        for topic in tuple(self.slots):
            self.remove(topic)
        self._writer.cancel()
        await asyncio.gather(self._writer, return_exceptions=True)

    async def _join(self, slot: Slot) -> None:
        slot.version, slot.acked = 0, slot.seq
        slot.view = await observatory().join(slot.page, slot.watch, self, self.wake)
        self._news.set()

    def _leave(self, slot: Slot) -> None:
        slot.view = None
        observatory().leave(slot.watch, self)

    async def _write(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            for slot in [slot for slot in self.slots.values() if slot.due]:
                if slot.view is not None:
                    slot.seq += 1
                    text, slot.version = slot.view.frame(slot.version, slot.seq)
                    await self._send(text)
            await asyncio.sleep(GAP_S)
