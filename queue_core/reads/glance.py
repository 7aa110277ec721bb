"""What a list shows of one job without opening it (`lua/parts/glance.lua`), and the less that a
mark does (`lua/parts/trace.lua`)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from queue_core.numbers import digits
from queue_core.plans import Reply

PREVIEW_LIMIT = 65_536
"""Payloads of more bytes are measured and not read for a list."""

LOOKS_LIKE_SECONDS = (946_684_800.0, 4_102_444_800.0)
"""A score in here, taken as seconds, is a date of this century; as ms it lies in January 1970."""


@dataclass(frozen=True, slots=True)
class Trace:
    """`found` is as of a `Glance`; `attempts` and `repeat` as the row holds them, None where
    absent; `failed` whether the row has an error."""

    found: str
    attempts: bytes | None
    failed: bool
    repeat: bytes | None

    @property
    def tries(self) -> int | None:
        """Attempts as a number; None where the row holds none or no number."""
        return digits(self.attempts)

    @property
    def kind(self) -> str:
        """Why it is scheduled, as far as its row tells: `retry` where a try failed before, else
        `delayed`; `repeat` where a repeat fired it and it waits for its first try. `unknown`
        where there is no row to ask."""
        if self.found != "row":
            return "unknown"
        if self.tries and self.failed:
            return "retry"
        return "repeat" if self.repeat is not None else "delayed"


@dataclass(frozen=True, slots=True)
class Glance:
    """`found` is row, orphan (the set names it, no row is there) or wrongtype (another type).

    Fields are as the row holds them, None where absent and cut where long. `payload_size` is in
    bytes; `payload_head` its first bytes, empty where the payload is over `PREVIEW_LIMIT`. An error
    over it has a size and no text.
    `held` is `worker:token:ms` of our own claims.
    """

    found: str
    attempts: bytes | None
    state: bytes | None
    group: bytes | None
    last_error: bytes | None
    repeat: bytes | None
    held: bytes | None
    payload_size: int
    payload_head: bytes
    error_size: int = 0

    @property
    def tries(self) -> int | None:
        """Attempts as a number; None where the row holds none or no number."""
        return digits(self.attempts)

    @property
    def kind(self) -> str:
        """As of a `Trace`."""
        failed = self.last_error is not None or self.error_size > 0
        return Trace(self.found, self.attempts, failed, self.repeat).kind

    @property
    def claimed_ms(self) -> int | None:
        """When the claim that failed was taken: `py_held` while its token equals attempts."""
        if self.held is None or self.attempts is None:
            return None
        parts = self.held.rsplit(b":", 2)
        if len(parts) != 3 or parts[1] != self.attempts:
            return None
        return digits(parts[2])


def trace(raw: Reply) -> Trace:
    """The value of one trace of a read script."""
    found, attempts, failed, repeat = raw
    return Trace(found.decode("ascii"), attempts, bool(failed), repeat)


def glance(raw: Reply) -> Glance:
    """The value of one glance of a read script."""
    found, attempts, state, group, error, repeat, held, size, head, long = raw
    return Glance(
        found.decode("ascii"),
        attempts,
        state,
        group,
        error,
        repeat,
        held,
        int(size),
        head,
        int(long),
    )


def seems_seconds(score: float) -> bool:
    """Whether a run-at looks like seconds that were written where milliseconds belong."""
    return LOOKS_LIKE_SECONDS[0] <= score <= LOOKS_LIKE_SECONDS[1]


def as_ms(score: float) -> int | None:
    """A score as a moment in whole ms; None for an infinite one."""
    return int(score) if math.isfinite(score) else None
