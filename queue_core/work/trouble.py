"""Trouble with the server never ends a loop: it waits, longer each time, and says so once."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Sequence

from queue_core import telemetry
from queue_core.errors import EchoMQError
from queue_core.exchange import code_of
from queue_core.quoting import quoted

FIRST_MS = 100
LONGEST_MS = 5_000
CLOSED = "CLOSED"

NAMED = 3
"""Queues that a loop of many is called after."""


def name_of(kind: str, queues: Sequence[bytes]) -> str:
    """What a loop of some queues is called in its log."""
    more = " and more" if len(queues) > NAMED else ""
    return f"{kind} of {', '.join(map(quoted, queues[:NAMED]))}{more}"


class Troubled:
    """What meets trouble and goes on."""

    _trouble: Trouble

    @property
    def faults(self) -> int:
        """How often the bus could not serve it since it was made."""
        return self._trouble.faults


class Trouble:
    """What one loop does about faults. Its parts may meet them apart, each in a thread of its own:
    one line is logged when the first of them does, one when the last of them is served again.

    `faults` counts them since the loop was made; each is an event `loop.trouble`, and the end of
    trouble `loop.recover` (`telemetry`).
    """

    def __init__(self, name: str, log: logging.Logger) -> None:
        self.faults = 0
        self._name = name
        self._log = log
        self._rows: dict[str, int] = {}
        self._since = 0
        self._lock = threading.Lock()

    def met(self, fault: Exception, part: str = "") -> float:
        """Note a fault; answers how many seconds to wait before the next try: 50 to 100 ms, and
        twice as long after each further fault in a row, up to 2.5 to 5 s. Raises the fault of a
        bus that was closed, since that serves nobody again."""
        code = code_of(fault) if isinstance(fault, EchoMQError) else ""
        if code == CLOSED:
            raise fault
        with self._lock:
            self.faults += 1
            first = not self._rows
            row = self._rows[part] = self._rows.get(part, 0) + 1
            self._since = 1 if first else self._since + 1
        if first:
            self._log.warning("%s: trouble with the bus: %s", self._name, fault)
        code = code or type(fault).__name__
        telemetry.emit("loop.trouble", loop=self._name, part=part, code=code, faults=self.faults)
        ceiling = min(LONGEST_MS, FIRST_MS << min(row - 1, 10))
        return random.randint(ceiling // 2, ceiling) / 1000  # noqa: S311 (spreads retries)

    @property
    def stands(self) -> bool:
        """Whether it has met a fault that is not over."""
        return bool(self._rows)

    def over(self, part: str = "") -> None:
        """The bus served."""
        if part not in self._rows:
            return
        with self._lock:
            if self._rows.pop(part, None) is None or self._rows:
                return
            since = self._since
        self._log.warning("%s: the bus serves again after %d faults", self._name, since)
        telemetry.emit("loop.recover", loop=self._name, faults=since)
