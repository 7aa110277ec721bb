"""Handlers that are awaited: each a task of an event loop, of the one at hand or of one in a thread
of its own."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from queue_core.plans import Plan
from queue_core.work.hands import Hands, InHand
from queue_core.work.task import AsyncRuns, AsyncTask, Attempt, Runs
from queue_core.work.verdicts import Verdict, failure, overtime, verdict_of

T = TypeVar("T")

_log = logging.getLogger(__name__)

AsyncHandler = Callable[[AsyncTask], Awaitable[Verdict | None]]

END_S = 2.0
"""What cancelled handlers of a loop's thread get to end before the worker goes on."""


def is_awaited(handler: Callable[..., Any]) -> bool:
    """Whether a handler is a coroutine function, or an object that is called like one."""
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(
        getattr(handler, "__call__", None)  # noqa: B004 (its nature is asked, not whether it is)
    )


class TaskHands(Hands):
    """Tasks of the loop in whose thread all of this is called.

    One that runs over its time is cancelled and its place is free at once, even if it takes its
    time to end. What runs at the end is cancelled.
    """

    def __init__(
        self,
        handler: Callable[[Any], Any],
        size: int,
        timeout_ms: int | None,
        told: Callable[[], None],
    ) -> None:
        super().__init__(handler, size, timeout_ms, told)
        self._ready: deque[InHand] = deque()
        self._running: dict[asyncio.Task[None], InHand] = {}
        self._late: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop
        self._over = False

    def start(self) -> None:
        """Begin to handle."""
        self._loop = asyncio.get_running_loop()

    def end(self) -> None:
        """Begin nothing more, cancel what runs."""
        self._over = True
        for task, one in self._running.items():
            one.task.let_go()
            task.cancel()

    @property
    def unbegun(self) -> bool:
        """Whether jobs lie ready that no handler has begun."""
        return bool(self._ready)

    def give(self, one: InHand) -> None:
        """Have a job handled as soon as there is a place."""
        self.out += 1
        self._ready.append(one)
        self._begin()

    def take_back(self) -> list[InHand]:
        """What no handler has begun."""
        back: list[InHand] = []
        try:
            while True:
                back.append(self._ready.popleft())
        except IndexError:
            pass
        self.out -= len(back)
        return back

    # ---- in the loop -------------------------------------------------------------------------

    def _begin(self) -> None:
        while len(self._running) < self._size and not self._over:
            try:
                one = self._ready.popleft()
            except IndexError:
                return
            self._running[self._loop.create_task(self._handle(one))] = one

    async def _handle(self, one: InHand) -> None:
        me = asyncio.current_task()
        assert me is not None
        began, limit_ms = one.begin(), self._timeout_ms
        if limit_ms is None:
            verdict = await self._verdict(one.task)
        else:
            timer = self._loop.call_later(limit_ms / 1000, self._expire, me, limit_ms)
            verdict = await self._verdict(one.task)
            timer.cancel()
        if self._running.pop(me, None) is not None:
            self._decide(one, verdict, began)

    async def _verdict(self, task: Attempt) -> Verdict:
        try:
            return verdict_of(await self._handler(task))
        except BaseException as error:  # noqa: BLE001 (whatever a handler raises is its job's failure)
            return failure(error)

    def _expire(self, task: asyncio.Task[None], limit_ms: int) -> None:
        """A handler's time is up."""
        one = self._running.pop(task, None)
        if one is None or one.since is None:
            return
        self._late.add(task)
        task.add_done_callback(self._late.discard)
        one.task.lose("timeout")
        task.cancel()
        self._decide(one, overtime(limit_ms), one.since)

    def _decide(self, one: InHand, verdict: Verdict, began: float) -> None:
        one.run_ms = (time.monotonic() - began) * 1000
        one.verdict, one.decided = verdict, True
        self._lay(one, True, True)
        self._begin()


class LoopHands(TaskHands):
    """The same for a worker that is no task itself: the loop is one of its own, in a thread."""

    def __init__(
        self,
        handler: Callable[[Any], Any],
        size: int,
        timeout_ms: int | None,
        told: Callable[[], None],
    ) -> None:
        super().__init__(handler, size, timeout_ms, told)
        self._stands = threading.Event()
        self._asked: asyncio.Event
        self._thread = threading.Thread(target=self._run, name="handlers", daemon=True)

    def start(self) -> None:
        """Begin to handle, once the loop runs."""
        self._thread.start()
        self._stands.wait()

    def end(self) -> None:
        """Begin nothing more, cancel what runs, and wait for that a little."""
        self._loop.call_soon_threadsafe(self._asked.set)
        self._thread.join(END_S)

    def give(self, one: InHand) -> None:
        """Have a job handled as soon as there is a place."""
        self.out += 1
        self._ready.append(one)
        self._loop.call_soon_threadsafe(self._begin)

    def _run(self) -> None:
        """Run the loop. A task that a handler began beside itself may ask for the end of the
        program (`sys.exit`), and stops the loop with it; as in a thread, that ends itself alone."""
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            living = loop.create_task(self._live())
            while not living.done():
                try:
                    loop.run_until_complete(living)
                except (SystemExit, KeyboardInterrupt) as error:
                    _log.warning("a task beside the handlers raised %r", error)

    async def _live(self) -> None:
        super().start()
        self._asked = asyncio.Event()
        self._stands.set()
        await self._asked.wait()
        super().end()


class Awaited:
    """A blocking bus as an awaited handler sees it: whatever it asks runs in a thread."""

    def __init__(self, bus: Runs) -> None:
        self._bus = bus

    async def run(self, plan: Plan[T]) -> T:
        """The plan's result."""
        return await asyncio.to_thread(self._bus.run, plan)


@dataclass(frozen=True, slots=True)
class FromThread:
    """The loop's bus as a thread of one of its handlers sees it."""

    bus: AsyncRuns
    loop: asyncio.AbstractEventLoop

    def run(self, plan: Plan[T]) -> T:
        """The plan's result; the thread waits for it."""
        return asyncio.run_coroutine_threadsafe(self.bus.run(plan), self.loop).result()
