"""How long a failed try waits before the next (protocol part 6.5).

A policy is pure: the worker asks it for a delay and passes that to `retry`; nothing of it is
stored on the bus. `exponential(500, 30_000)` doubles from half a second up to half a minute;
`jitter(exponential(500, 30_000))` draws a whole number from 0 up to that, both ends included, so
that jobs which failed together do not come back together.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Protocol

from queue_core.errors import InvalidError
from queue_core.numbers import delay


class Backoff(Protocol):
    """A policy. `failures` counts the tries that failed, from 1 on; delays are whole ms."""

    def ceiling(self, failures: int) -> int:
        """The longest delay it may give after so many failures."""

    def delay(self, failures: int) -> int:
        """The delay to pass to `retry`."""


def _counted(failures: int) -> int:
    if failures < 1:
        raise InvalidError(f"a policy is asked after the first failure, got {failures}")
    return failures


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same delay after every failure."""

    ms: int

    def ceiling(self, failures: int) -> int:
        """The delay."""
        _counted(failures)
        return self.ms

    def delay(self, failures: int) -> int:
        """The delay."""
        return self.ceiling(failures)


@dataclass(frozen=True, slots=True)
class Exponential:
    """`base_ms` doubled with each failure after the first, at most `cap_ms`."""

    base_ms: int
    cap_ms: int

    def ceiling(self, failures: int) -> int:
        """min(base * 2**(failures - 1), cap). A shift past the cap is never carried out."""
        doublings = _counted(failures) - 1
        if doublings >= self.cap_ms.bit_length():
            return self.cap_ms if self.base_ms else 0
        return min(self.base_ms << doublings, self.cap_ms)

    def delay(self, failures: int) -> int:
        """The same: nothing is drawn."""
        return self.ceiling(failures)


@dataclass(frozen=True, slots=True)
class Jitter:
    """A whole number from 0 to what the inner policy gives, both ends included."""

    inner: Backoff

    def ceiling(self, failures: int) -> int:
        """What the inner policy gives."""
        return self.inner.ceiling(failures)

    def delay(self, failures: int) -> int:
        """Drawn anew each time."""
        return random.randint(0, self.inner.delay(failures))  # noqa: S311  (spreads load, keeps no secret)


def fixed(ms: int) -> Fixed:
    """The same `ms` (0 or more) after every failure."""
    return Fixed(delay(ms))


def exponential(base_ms: int, cap_ms: int) -> Exponential:
    """Doubling from `base_ms` up to `cap_ms`, both 0 or more."""
    return Exponential(delay(base_ms), delay(cap_ms))


def jitter(inner: Backoff) -> Jitter:
    """Full jitter over another policy."""
    if not callable(getattr(inner, "delay", None)):
        raise InvalidError(f"jitter is over another policy, got {inner!r}")
    return Jitter(inner)
