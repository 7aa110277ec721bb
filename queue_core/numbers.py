"""Numbers a verb takes: whole, in range, and exact where the server keeps them as a score; and
numbers that the bus holds as text, which may be anything."""

import math

from queue_core.errors import InvalidError

EXACT = 2**53 - 1
"""The largest whole number that a score, a double, tells from its neighbours."""


DIGITS = 18
"""Of the longest number that is read from a field of the bus."""


def whole(number: int, what: str, least: int = 1, most: int = EXACT) -> int:
    """The number itself. `InvalidError` where it is no int or outside `least`..`most`."""
    if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
        raise InvalidError(f"{what} is a whole number in {least}..{most}, got {number!r}")
    return number


def lease(ms: int) -> int:
    """A lease in ms, from 1; short enough that its deadline stays exact."""
    return whole(ms, "a lease in ms", 1, EXACT // 2)


def delay(ms: int, least: int = 0) -> int:
    """A delay in ms from the server's now; short enough that the instant stays exact."""
    return whole(ms, "a delay in ms", least, EXACT // 2)


def instant(ms: int) -> int:
    """An absolute time in Unix ms, past or future."""
    return whole(ms, "an instant in Unix ms", -EXACT)


def seconds(span: float, what: str) -> float:
    """A span in s, from 0. `InvalidError` for anything else."""
    fits = isinstance(span, int | float) and not isinstance(span, bool) and 0 <= span < math.inf
    if not fits:
        raise InvalidError(f"{what} is a number from 0, got {span!r}")
    return span


def digits(raw: bytes | None) -> int | None:
    """A field of the bus as a whole number from 0, of at most `DIGITS` digits; None where it is
    absent or says anything else. Longer ones are no counts, and Python refuses to read them."""
    return int(raw) if raw is not None and raw.isdigit() and len(raw) <= DIGITS else None
