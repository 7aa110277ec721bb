"""How a loop is told to end, and kept from running twice."""

from __future__ import annotations

import os
from queue import Empty, SimpleQueue

from queue_core.errors import ContractError


class Flag:
    """A `threading.Event` that is only ever set, and that a signal handler may set: an Event's
    lock may be held by the very thread that a signal interrupts, which would then wait for itself.
    """

    def __init__(self) -> None:
        self._on = False
        self._told: SimpleQueue[None] = SimpleQueue()

    def set(self) -> None:
        """Set it, from any thread or signal handler."""
        self._on = True
        self._told.put(None)

    def is_set(self) -> bool:
        """Whether it is."""
        return self._on

    def wait(self, seconds: float) -> bool:
        """Wait until it is set, so long at most; whether it is."""
        if not self._on and seconds > 0:
            try:
                self._told.get(timeout=seconds)
            except Empty:
                return self._on
            self._told.put(None)  # for whoever waits beside
        return self._on


class Once:
    """What runs once: its watches are closed at its end, and two runs at a time would each take
    the other's jobs for its own."""

    def __init__(self) -> None:
        self._left = [None]
        self._process = os.getpid()

    def begin(self) -> None:
        """`ContractError` but for the first time, and in another process than it was made in:
        that one has its watches, and its name."""
        if os.getpid() != self._process:
            raise ContractError("a loop runs in the process that made it")
        try:
            self._left.pop()
        except IndexError:
            raise ContractError("a loop runs once; make another for another run") from None
