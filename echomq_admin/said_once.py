"""What goes into the log once, however often it is met.

A bus that does not answer is met by every page, action and probe. The log tells when it stopped
and when it serves again; the rest is told to whoever asked.
"""

from __future__ import annotations

import logging
import threading
from typing import Any, TypeVar

log = logging.getLogger(__name__)

R = TypeVar("R", bound=Any)


class Standing:
    """How things stand with one other party: a line in the log at each turn, none between."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._well = True
        self._lock = threading.Lock()

    def is_well(self) -> None:
        """It serves."""
        self._turn(True, "serves again")

    def is_not(self, why: str) -> None:
        """It does not, and why."""
        self._turn(False, f"does not serve: {why}")

    def _turn(self, well: bool, how: str) -> None:
        if self._well is well:  # nearly always, and without waiting for anybody
            return
        with self._lock:
            turned, self._well = self._well is not well, well
        if turned:
            log.warning("%s %s", self._name, how)


def an_answer(response: R) -> R:
    """Mark a refusal that is an answer: kept by the audit, told by its page. Django logs every
    status of 400 and more unless it is marked as logged already."""
    response._has_been_logged = True
    return response
