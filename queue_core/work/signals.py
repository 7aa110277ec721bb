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
    loop ended well. Belongs to the main thread."""
    asked = threading.Event()

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            os._exit(128 + number)
        asked.set()

    for number in SIGNALS:
        signal.signal(number, on_signal)
    ends: list[object] = []
    threads = [
        threading.Thread(target=lambda loop=loop: ends.append(loop.run()), daemon=True)
        for loop in loops
    ]
    for thread in threads:
        thread.start()
    while not asked.wait(0.5) and any(thread.is_alive() for thread in threads):
        pass
    say(STOPPING)
    for loop in loops:
        loop.stop()
    for thread in threads:
        thread.join()
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
    either: set[asyncio.Future[Any]] = {waiting, all_ended}
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        say(STOPPING)
        for loop in loops:
            loop.stop()
        ends = await all_ended
    finally:
        for number in SIGNALS:
            here.remove_signal_handler(number)
        for task in (waiting, *running):
            task.cancel()
        await asyncio.gather(waiting, *running, return_exceptions=True)
    return not any(end is False or isinstance(end, BaseException) for end in ends)


async def _noted(loop: AsyncLoop) -> object:
    try:
        return await loop.run()
    except Exception:
        _log.exception("a loop fell")
        raise
