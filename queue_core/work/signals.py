"""A process that runs loops until it is asked to end: once in order, twice at once.

The first SIGTERM or SIGINT stops the loops: what is in hand ends, `drain_s` of each at most, and
nothing more is claimed. The second is the hard stop: what is in hand returns when its lease ends.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Protocol

from queue_core.work.flags import Flag

SIGNALS = (signal.SIGTERM, signal.SIGINT)
STOPPING = (
    "Stopping: what is in hand ends, nothing more is claimed. A second signal ends it at once."
)

_log = logging.getLogger(__name__)


class Loop(Protocol):
    """What runs until it is stopped, in a thread."""

    def run(self) -> object:
        """Run; False where it left something undone."""

    def stop(self) -> None:
        """Come to an end in order."""


class AsyncLoop(Protocol):
    """What runs until it is stopped, in an event loop."""

    async def run(self) -> object:
        """Run; False where it left something undone."""

    def stop(self) -> None:
        """Come to an end in order."""


def run_until_signalled(loops: Sequence[Loop], say: Callable[[str], object] = _log.info) -> bool:
    """Run each loop in a thread until the first signal, then stop them and wait for what they have
    in hand. The second ends the process at once, with 128 and the signal's number. Whether every
    loop ended well: one that falls is logged, and stops the others, so that whoever looks after
    the process can start it anew. Belongs to the main thread."""
    asked, fell = Flag(), Flag()

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            os._exit(128 + number)
        asked.set()

    before = {number: signal.signal(number, on_signal) for number in SIGNALS}
    ends: list[object] = []

    def live(loop: Loop) -> None:
        try:
            ends.append(loop.run())
        except BaseException:  # noqa: BLE001 (a thread has nobody else to tell)
            _log.exception("a loop fell")
            fell.set()

    threads = [threading.Thread(target=live, args=(loop,), daemon=True) for loop in loops]
    try:
        for thread in threads:
            thread.start()
        while not (asked.wait(0.5) or fell.is_set()) and any(one.is_alive() for one in threads):
            pass
        say(STOPPING)
        for loop in loops:
            loop.stop()
        for thread in threads:
            thread.join()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return len(ends) == len(threads) and False not in ends


async def async_run_until_signalled(
    loops: Sequence[AsyncLoop], say: Callable[[str], object] = _log.info
) -> bool:
    """The same in an event loop, of the main thread: the second signal cancels what runs, handlers
    too, and a third ends a process whose handlers do not let themselves be cancelled."""
    here, asked = asyncio.get_running_loop(), asyncio.Event()
    running = [asyncio.create_task(_noted(loop)) for loop in loops]
    signalled = 0

    def on_signal(number: int) -> None:
        nonlocal signalled
        signalled += 1
        asked.set()
        if signalled == 2:
            for task in running:
                task.cancel()
        elif signalled > 2:
            os._exit(128 + number)

    for number in SIGNALS:
        here.add_signal_handler(number, on_signal, number)
    waiting = asyncio.create_task(asked.wait())
    all_ended = asyncio.gather(*running, return_exceptions=True)
    one_fell = asyncio.create_task(_fallen(running))
    either: set[asyncio.Future[Any]] = {waiting, all_ended, one_fell}
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        say(STOPPING)
        for loop in loops:
            loop.stop()
        ends = await all_ended
    finally:
        for number in SIGNALS:
            here.remove_signal_handler(number)
        for task in (waiting, one_fell, *running):
            task.cancel()
        await asyncio.gather(waiting, one_fell, *running, return_exceptions=True)
    return not any(end is False or isinstance(end, BaseException) for end in ends)


async def _fallen(running: Sequence[asyncio.Task[object]]) -> None:
    """Wait until one of them falls, or all have ended."""
    await asyncio.wait(running, return_when=asyncio.FIRST_EXCEPTION)


async def _noted(loop: AsyncLoop) -> object:
    try:
        return await loop.run()
    except Exception:
        _log.exception("a loop fell")
        raise
