"""When a worker takes its next batch (protocol part 6.4), without I/O: both loops drive this.

Flat pending has a window, and so have the lanes: it opens with the last batch and ends after
`window_ms`. Before its end a batch goes where `min_size` jobs wait, after it where any does. Of
the lanes each is a batch of its own: a full one goes at once, and the end of the window lets each
that has something go once.
"""

from __future__ import annotations

from dataclasses import dataclass

from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.numbers import whole
from queue_core.plans import Call, Plan, Reply
from queue_core.scripts import script
from queue_core.verbs import claims
from queue_core.work.batches import decide
from queue_core.work.lookout import beats
from queue_core.work.turns import look

MIN_SIZE = 1
WINDOW_MS = 1_000
POLL_MS = 50
"""Between two looks at a batch that fills up, however many jobs come, and the first wait after a
claim that found nothing (part 10, row 19); each further one waits twice as long, up to a beat, or,
where nothing is heard meanwhile, up to `HEARD_BEATS`."""

_WAITING_LANES = script("reads/waiting_lanes")


@dataclass(frozen=True, slots=True)
class Size:
    """How large batches are to be: `least` jobs where so many come within the window, never more
    than `most`. `InvalidError` for anything but 1 <= least <= most <= 1000."""

    least: int
    most: int

    def __post_init__(self) -> None:
        whole(self.most, "a batch's largest size", 1, claims.MOST)
        whole(self.least, "a batch's smallest size", 1, self.most)


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a look found: jobs of flat pending, lanes in the ring, and how many of its first have a
    full batch."""

    flat: int
    lanes: int
    full: int
    paused: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """A batch to claim: of flat pending, or of the first lane that has `least`."""

    of_lanes: bool
    least: int
    most: int

    def claim(self, q: QueueKeys, lease_ms: int, worker: bytes) -> Plan[list[Lease]]:
        """The claim of it; fewer may be left by then, or none."""
        if self.of_lanes:
            return claims.lane_claim_full(q, self.least, self.most, lease_ms, worker)
        return claims.claim_batch(q, self.most, lease_ms, worker)


class Gathering:
    """The windows of one queue. Times are monotonic, in s; `look_at` is when to look again."""

    def __init__(
        self, q: QueueKeys, size: Size, window_ms: int, poll_ms: int, beat_ms: int, lanes: bool
    ) -> None:
        self.look_at = 0.0
        self.call: Call = self._read(q, size.least) if lanes else look(q)
        self._size = size
        self._window_ms = whole(window_ms, "a window in ms", 0)
        self._poll_s = whole(poll_ms, "a poll in ms") / 1000
        self._beat_s = whole(beat_ms, "a beat in ms") / 1000
        self._lanes = lanes
        self._opened: float | None = None
        self._lanes_opened = 0.0
        self._left = 0
        self._looked_at = 0.0
        self._filling = False
        self._held_until = 0.0
        self._empty = 0
        self._lanes_next = False
        self._tracks = False

    @staticmethod
    def _read(q: QueueKeys, least: int) -> Call:
        return _WAITING_LANES.call((q.pending, q.ring, q.meta), q.base, least)

    def found(self, reply: Reply) -> Waiting:
        """A look's reply."""
        _now_ms, flat, lanes, paused, *full = reply
        return Waiting(flat, lanes if self._lanes else 0, full[0] if full else 0, bool(paused))

    def hear(self) -> None:
        """Something has changed: look soon."""
        gap_s = self._poll_s if self._filling else 0.0
        self.look_at = min(self.look_at, max(self._looked_at + gap_s, self._held_until))

    def choose(self, found: Waiting, now: float, tracks: bool) -> Choice | None:
        """What to claim now, if anything; else `look_at` is set. `tracks`: whether the server
        tells of changes."""
        if self._opened is None:
            self._opened = self._lanes_opened = now
        self._looked_at, self._tracks = now, tracks
        self._filling = bool(found.flat or found.lanes)
        flat, least = (0, 0) if found.paused else (self._flat(found, now), self._least(found, now))
        if flat and not (least and self._lanes_next):
            return Choice(False, self._size.least, min(flat, self._size.most))
        if least:
            return Choice(True, least, self._size.most)
        self.look_at = self._next(found, now, tracks)
        return None

    def claimed(self, choice: Choice, count: int, now: float) -> None:
        """What a claim came to. One that found nothing, where a look had found enough, is held
        off: somebody was first, or a limit or a pause has come between."""
        if not count:
            wait_s = self._poll_s * 2 ** min(self._empty, 16)
            beat_s = max(self._beat_s, self._poll_s)
            self._empty += 1
            self._held_until = now + min(wait_s, beat_s)
            self.look_at = now + min(wait_s, beat_s * beats(self._tracks))
        else:
            self._empty = 0
            self.look_at = now
        if not choice.of_lanes:
            self._lanes_next = True
            if count:
                self._opened = now
            return
        self._lanes_next = False
        if self._left:
            self._left = self._left - 1 if count else 0
            if not self._left:
                self._lanes_opened = now

    def _flat(self, found: Waiting, now: float) -> int:
        assert self._opened is not None
        elapsed_ms = int((now - self._opened) * 1000)
        return decide(found.flat, elapsed_ms, self._size.least, self._window_ms)

    def _least(self, found: Waiting, now: float) -> int:
        """How many jobs a lane must have to go now, 0 where none has as many."""
        if not found.lanes:
            return 0
        if not self._left and now - self._lanes_opened >= self._window_ms / 1000:
            self._left = found.lanes
        if self._left:
            return 1
        return self._size.least if found.full else 0

    def _next(self, found: Waiting, now: float, tracks: bool) -> float:
        """When to look again: where something waits at the end of its window, else by the beat."""
        assert self._opened is not None
        at = now + self._beat_s * beats(tracks)
        if found.flat and not found.paused:
            at = min(at, self._opened + self._window_ms / 1000)
        if found.lanes and not found.paused:
            at = min(at, self._lanes_opened + self._window_ms / 1000)
        return at
