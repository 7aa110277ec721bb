"""One observatory per process: a thread with its own loop, an observer per bus, a view per watch.

It starts with the first who looks and reads only while somebody does. Pages ask it for a first
paint; sockets join a view and are told when there is something new.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any, TypeVar

from django.conf import settings
from django.urls import get_script_prefix, set_script_prefix

from echomq_admin import config
from echomq_admin.buses import bus_urls, declared, safe_url
from echomq_admin.live.frames import View, drawing
from echomq_admin.live.page import Page, Shaped, Watch
from echomq_admin.live.pauses import note_pauses
from echomq_admin.live.sampler import GLANCE_MS, TICK_MS, Observer
from echomq_admin.live.scene import Scene, host_ms

log = logging.getLogger(__name__)

FIRST_WAIT_S = 15.0
HANGS_S = 1.0
"""How long a tick may take before what is known is drawn again, older."""

HEARD = 64
"""Queues whose events the overview listens to; the rest of them wait for the tick."""

Wake = Callable[[], None]
"""How a socket is told that its view has something new; called on the live thread."""

T = TypeVar("T")


class Observatory:
    """All that this process watches."""

    def __init__(self) -> None:
        self.scenes = {
            name: Scene(name, safe_url(name), declared(name), config.only_looked_at(name))
            for name in bus_urls()
        }
        self._loop = asyncio.new_event_loop()
        # Of the request that began it: addresses in frames lie below it too.
        self._below = settings.FORCE_SCRIPT_NAME or get_script_prefix()
        self._views: dict[Watch, View] = {}
        self._watchers: dict[Watch, dict[object, Wake]] = {}
        self._owed: set[View] = set()
        self._ticking: dict[str, asyncio.Task[None]] = {}
        self._observers = {
            name: Observer(self.scenes[name], url) for name, url in bus_urls().items()
        }
        self._thread = threading.Thread(target=self._serve, name="echomq-live", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _send(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Stop reading and give up every connection."""
        self._send(self._close()).result(FIRST_WAIT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        for task in self._ticking.values():
            task.cancel()
        await asyncio.gather(*self._ticking.values(), return_exceptions=True)
        for observer in self._observers.values():
            await observer.close()

    # ---- first paint -----------------------------------------------------------------------

    def first(self, page: Page, watch: Watch) -> dict[str, Any]:
        """The context of a first paint, for any thread but the live one. At most three round
        trips to each bus, none to a bus that is known not to answer."""
        return self._send(self._first(page, watch)).result(FIRST_WAIT_S)

    async def _first(self, page: Page, watch: Watch) -> dict[str, Any]:
        if watch.bus:
            view = await self._observers[watch.bus].first(page, watch, walled=False)
            await note_pauses(self.scenes[watch.bus])
        else:
            view = View(page, watch)
            old = [one for one in self._observers.values() if one.scene.age_ms() > GLANCE_MS]
            await asyncio.gather(*(one.first(page, watch, walled=True) for one in old))
            await asyncio.gather(*map(note_pauses, self.scenes.values()))
        return drawing(page, watch, self.scenes, self._shaped(view))

    def _shaped(self, view: View) -> Shaped:
        scene = self.scenes.get(view.watch.bus)
        return view.page.shape(view.watch, scene or self.scenes, view.results or ())

    # ---- sockets ---------------------------------------------------------------------------

    async def join(self, page: Page, watch: Watch, who: object, wake: Wake) -> View:
        """Look at a watch until `leave`; `wake` tells each time that its view has news."""
        return await asyncio.wrap_future(self._send(self._join(page, watch, who, wake)))

    async def _join(self, page: Page, watch: Watch, who: object, wake: Wake) -> View:
        view = self._views.setdefault(watch, View(page, watch))
        self._watchers.setdefault(watch, {})[who] = wake
        for name, observer in self._observers.items():
            if name not in self._ticking or self._ticking[name].done():
                self._ticking[name] = self._loop.create_task(self._observe(observer))
            observer.stir()
        return view

    def leave(self, watch: Watch, who: object) -> None:
        """Look no longer; the last one out ends the reading of this watch."""
        self._loop.call_soon_threadsafe(self._leave, watch, who)

    def _leave(self, watch: Watch, who: object) -> None:
        watchers = self._watchers.get(watch, {})
        watchers.pop(who, None)
        if not watchers:
            self._watchers.pop(watch, None)
            self._views.pop(watch, None)

    # ---- the loops -------------------------------------------------------------------------

    async def _observe(self, observer: Observer) -> None:
        """Tick one bus while anybody looks at anything of this process."""
        set_script_prefix(self._below)
        while self._views:
            began = host_ms()
            try:
                await self._tick(observer)
            except Exception:
                # A page's fault must not end the watching of every other page.
                log.exception("a tick of %s failed", observer.scene.bus)
            watched = bool(self._of(observer.scene.bus) or self._of(""))
            await observer.pause(began, watched)
        await observer.hush()

    def _of(self, bus: str) -> list[View]:
        return [view for watch, view in self._views.items() if watch.bus == bus]

    async def _tick(self, observer: Observer) -> None:
        views, walls = self._of(observer.scene.bus), self._of("")
        ticking = asyncio.ensure_future(observer.tick(views, walled=bool(walls)))
        try:
            while not (await asyncio.wait({ticking}, timeout=HANGS_S))[0]:
                self._redraw_known(observer.scene.bus)
        finally:
            ticking.cancel()
        await ticking
        await note_pauses(observer.scene)
        moved = [self._redraw(view) for view in (*views, *walls)]
        if any(moved):
            observer.moved()
        queues = {view.watch.queue for view in views if view.page.of_queue}
        observer.hear(queues.union(observer.scene.queues[:HEARD] if walls else ()))

    def _redraw_known(self, bus: str) -> None:
        """While a bus lets its tick wait, its numbers grow old in sight. A view that has been
        answered nothing yet stays as it was painted."""
        for view in (*self._of(bus), *self._of("")):
            if view.results is not None or not view.watch.bus:
                self._redraw(view)

    def _redraw(self, view: View) -> bool:
        """Draw a view and tell those who watch it; whether more than its age moved."""
        early_ms = TICK_MS - (host_ms() - view.drawn_ms)
        if not view.watch.bus and early_ms > 0:
            if view not in self._owed:
                self._owed.add(view)
                self._loop.call_later(early_ms / 1000, self._redraw_owed, view)
            return False
        moved = view.moved
        if view.update(self.scenes, self._shaped(view)):
            for wake in tuple(self._watchers.get(view.watch, {}).values()):
                wake()
        return view.moved != moved

    def _redraw_owed(self, view: View) -> None:
        """A wall that was drawn for one bus a moment before another had news."""
        self._owed.discard(view)
        if self._views.get(view.watch) is view:
            self._redraw(view)


@cache
def observatory() -> Observatory:
    """The one of this process, begun by the first who looks."""
    return Observatory()


def has_seen(bus: str, queue: bytes) -> bool:
    """Whether this process has met a queue. One in which nobody looks has met none."""
    scene = observatory().scenes.get(bus) if observatory.cache_info().currsize else None
    return scene is not None and queue in scene.queues


def shut() -> None:
    """Close the observatory of this process, if it has begun; the next look begins another."""
    if observatory.cache_info().currsize:
        observatory().close()
        observatory.cache_clear()
