"""A process that runs loops until it is asked to end: once in order, twice at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Protocol


class Loop(Protocol):
    """What runs until it is stopped."""

    def run(self) -> object: ...
    def stop(self) -> None: ...


def run_until_signalled(loops: Sequence[Loop], say: Callable[[str], None]) -> bool:
    """Run each loop in a thread until SIGTERM or SIGINT, then stop them and wait for what they
    have in hand. A second signal ends the process at once. Whether every loop ended well."""
    asked = threading.Event()

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            os._exit(128 + number)
        asked.set()

    for number in (signal.SIGTERM, signal.SIGINT):
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
    say("Stopping: what is in hand ends, nothing more is claimed. A second signal ends it at once.")
    for loop in loops:
        loop.stop()
    for thread in threads:
        thread.join()
    return len(ends) == len(threads) and False not in ends
