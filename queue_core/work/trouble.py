"""Trouble with the server never ends a loop: it waits, longer each time, and says so once."""

import logging
import random

FIRST_MS = 100
LONGEST_MS = 5_000


class Trouble:
    """What one loop does about faults. One line per change of state, and a counter of faults."""

    def __init__(self, name: str, log: logging.Logger) -> None:
        self._name = name
        self._log = log
        self._row = 0
        self.faults = 0

    def met(self, fault: Exception) -> float:
        """Note a fault; answers how many seconds to wait before the next try."""
        self.faults += 1
        self._row += 1
        if self._row == 1:
            self._log.warning("%s: trouble with the bus: %s", self._name, fault)
        ceiling = min(LONGEST_MS, FIRST_MS << min(self._row - 1, 10))
        return random.randint(ceiling // 2, ceiling) / 1000  # noqa: S311 (spreads retries)

    def over(self) -> None:
        """The bus served."""
        if self._row:
            self._log.warning("%s: the bus serves again after %d faults", self._name, self._row)
            self._row = 0
