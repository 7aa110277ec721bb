"""When a queue is worth a claim, without I/O: by what was looked at, heard of and claimed."""

from __future__ import annotations

import time

from queue_core.keys import QueueKeys
from queue_core.plans import Reply
from queue_core.work.turns import look, waits

HEARD_BEATS = 5
"""Beats between two looks where the server tells of changes: the look is for what it cannot tell,
a window of a rate limit that ends, say."""


def beats(told: bool) -> int:
    """Beats until the next look, by whether the server tells of changes meanwhile."""
    return HEARD_BEATS if told else 1


class Lookout:
    """What is known of one queue. Times are monotonic, in s. `call` is the look at it.

    `short`: the last claim found less than it wanted, so that the watch is set before the next
    one; `dry`: then nothing waited, or that one found nothing, so that only a change makes another
    worth its while, or `look_at`. What was heard of is claimed at once, and the watch set when its
    handler has it. The first look is followed by one that comes `early` beats sooner.
    """

    def __init__(self, q: QueueKeys, beat_s: float, early: int = 0) -> None:
        self.call = look(q)
        self.short, self.dry = True, False
        self.look_at = 0.0
        self._beat_s = beat_s
        self._early = early

    def rests(self, now: float) -> bool:
        """Whether no claim is worth its while yet."""
        self.dry = self.dry and now < self.look_at
        return self.dry

    def looked(self, found: Reply | None) -> bool:
        """Its watch is set: whether it is worth a claim. None is the look that told nothing."""
        told = found is not None
        self.look_at = time.monotonic() + self._beat_s * (beats(told) - self._early * told)
        self._early = 0
        self.dry = not waits(found)
        return not self.dry

    def hear(self) -> None:
        """Something of it has changed."""
        self.short, self.dry = self.short and not self.dry, False

    def came(self, wanted: int, taken: int | None) -> None:
        """What a claim came to: so many jobs, None where only ghosts were met and it is worth
        another."""
        self.dry = taken is not None and self.short and not taken
        if taken is not None:
            self.short = taken < wanted

    def failed(self) -> None:
        """The bus could not serve it: whatever is known may be no longer so."""
        self.short, self.dry = True, False
