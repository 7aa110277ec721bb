"""What this process knows of one bus: its queues, their last samples, and how it fares.

The observer of the bus writes a scene, on the live thread; pages and frames read it anywhere.
A sample is kept when the bus goes away: the last truth with its age, never a zero.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from queue_core.reads.health import Health
from queue_core.reads.sample import Sample
from queue_core.reads.snapshot import Snapshot

HISTORY_STEP_MS = 5_000
HISTORY_LENGTH = 61
"""Five minutes and one bound, so that sixty steps lie between."""

HISTORY_QUEUES = 300
"""Queues whose history is kept, those sampled last: some 15 MB at most."""

STALE_MS = 3_000
"""From this age on a number is no longer called live: twelve ticks missed."""


def host_ms() -> int:
    """This host's wall clock in Unix ms; the scene turns it into the bus's."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Status:
    """How the bus stands: `state` is asking | live | unreachable | forbidden | fence, since
    `since_ms` of the bus's clock; `tries` and `next_try_ms` while it does not answer."""

    state: str
    since_ms: int
    why: str = ""
    tries: int = 0
    next_try_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Stand:
    """Something that has stayed the same: the value, since when, and what had completed then."""

    value: object
    since_ms: int
    completed: int | None


class Scene:
    """One bus as this process sees it."""

    def __init__(
        self,
        bus: str,
        where: str = "",
        declared: Sequence[bytes] = (),
        only_looked_at: str = "",
    ) -> None:
        self.bus = bus
        self.where = where
        self.only_looked_at = only_looked_at
        self.samples: dict[bytes, Snapshot[Sample]] = {}
        self.declared = tuple(declared)
        self.status = Status("asking", host_ms(), "The bus has not been asked yet.")
        self.health: Health | None = None
        self.ping_ms: float | None = None
        self.skew_ms = 0.0
        self.tick_ms = 0.0
        self.primaries = 1
        self.nodes: tuple[str | None, ...] = (None,)
        """The primaries by name, for reads that walk the whole bus; None where there is one."""
        self.partial = ""
        self.missing: dict[str, str] = {}
        self._queues: dict[bytes, None] = dict.fromkeys(self.declared)
        self._history: OrderedDict[bytes, deque[tuple[int, Sample]]] = OrderedDict()
        self._heads: dict[bytes, Stand] = {}
        self._dues: dict[bytes, Stand] = {}
        self._paused: dict[bytes, Stand] = {}
        self._pausers: dict[bytes, tuple[str, int | None]] = {}
        self._clocks: deque[tuple[float, float]] = deque(maxlen=20)
        self.last_ms: int | None = None
        """The bus's clock at its last answer, None before the first."""

    @property
    def queues(self) -> tuple[bytes, ...]:
        """Every queue declared, or seen since this process began, in the order of its name."""
        return tuple(sorted(self._queues))

    @property
    def now_ms(self) -> int:
        """The bus's clock, as far as this host can tell."""
        return round(host_ms() + self.skew_ms)

    @property
    def state(self) -> str:
        """`status.state`, and `stale` where the bus has answered but not of late."""
        live = self.status.state == "live"
        return "stale" if live and self.age_ms() > STALE_MS else self.status.state

    def age_ms(self) -> int:
        """How long ago the bus last answered; before the first answer, for ever."""
        return max(0, self.now_ms - self.last_ms) if self.last_ms else self.now_ms

    def sample(self, queue: bytes) -> Snapshot[Sample] | None:
        """The last look at a queue, None where there has been none."""
        return self.samples.get(queue)

    def history(self, queue: bytes) -> Sequence[tuple[int, Sample]]:
        """Samples of the last five minutes, oldest first, about `HISTORY_STEP_MS` apart; holes
        are where nobody looked. The newest stands last."""
        kept = list(self._history.get(queue, ()))
        last = self.samples.get(queue)
        if last is not None and (not kept or kept[-1][0] < last.at_ms):
            kept.append((last.at_ms, last.value))
        return kept

    def standing_head(self, queue: bytes) -> Stand | None:
        """How long the head of flat pending has been the same job."""
        return self._heads.get(queue)

    def standing_due(self, queue: bytes) -> Stand | None:
        """How long the latest late job has been the same score."""
        return self._dues.get(queue)

    def paused_since(self, queue: bytes) -> int | None:
        """When the queue was paused: as our audit has it, else when this process saw it become
        so; None where it was found paused and nobody here did it."""
        stand = self._paused.get(queue)
        if stand is None or not stand.value:
            return None
        return self._pausers.get(queue, ("", None))[1] or stand.since_ms or None

    def paused_by(self, queue: bytes) -> str:
        """Who paused it from here, empty where unknown."""
        return self._pausers.get(queue, ("", None))[0]

    def unexplained(self) -> list[bytes]:
        """Paused queues of which nobody has yet looked up who paused them."""
        return [
            queue
            for queue, stand in self._paused.items()
            if stand.value and queue not in self._pausers
        ]

    def no_writes(self, queue: bytes) -> str:
        """Why nothing is written to a queue, or the server would not take it; empty where it
        would."""
        if self.only_looked_at:
            return self.only_looked_at
        if self.health is not None and self.health.role == "replica":
            return "The bus is a replica: writes are unavailable until a primary answers."
        seen = self.samples.get(queue)
        return no_right(seen.value.refused) if seen is not None else ""

    # ---- written by the observer ----------------------------------------------------------

    def note_queues(self, names: Sequence[bytes]) -> None:
        """Queues met by discovery; once seen a queue stays, also when it is empty."""
        self._queues.update(dict.fromkeys(names))

    def note_sample(self, queue: bytes, seen: Snapshot[Sample]) -> None:
        """A fresh look at a queue. One that holds nothing and that nobody declared or met is
        no queue: a name in an address must not become one."""
        if seen.value.empty and queue not in self._queues:
            return
        before = self.samples.get(queue)
        self.samples[queue] = seen
        self._queues.setdefault(queue)
        value = seen.value
        _stand(self._heads, queue, value.pending_head, seen.at_ms, value.completed)
        _stand(self._dues, queue, value.worst_due if value.late else None, seen.at_ms, None)
        known = self._paused.get(queue)
        if known is None or known.value != value.paused:
            since = seen.at_ms if before is not None else 0
            self._paused[queue] = Stand(value.paused, since, None)
            self._pausers.pop(queue, None)
        kept = self._history.setdefault(queue, deque(maxlen=HISTORY_LENGTH))
        self._history.move_to_end(queue)
        if not kept or seen.at_ms - kept[-1][0] >= HISTORY_STEP_MS:
            kept.append((seen.at_ms, value))
        if len(self._history) > HISTORY_QUEUES:
            self._history.popitem(last=False)

    def note_clock(self, server_ms: int, sent_ms: float, got_ms: float) -> None:
        """What the bus's clock said in an answer asked at `sent_ms` and read at `got_ms` of the
        host's. The quickest of the last answers is trusted."""
        self._clocks.append((got_ms - sent_ms, server_ms - (sent_ms + got_ms) / 2))
        self.ping_ms, self.skew_ms = min(self._clocks)
        self.last_ms = server_ms

    def note_pauser(self, queue: bytes, who: str, host_at_ms: int | None) -> None:
        """Who paused a queue and when by this host's clock, as far as anybody here knows."""
        at_ms = None if host_at_ms is None else round(host_at_ms + self.skew_ms)
        self._pausers[queue] = (who, at_ms)

    def note_missing(self, part: str, why: str) -> None:
        """What the server refuses to show, in a sentence; empty where it no longer does."""
        if why:
            self.missing[part] = why
        else:
            self.missing.pop(part, None)

    def note_answer(self, took_ms: float) -> None:
        """The bus answered a tick."""
        self.tick_ms = took_ms
        if self.status.state != "live":
            self.status = Status("live", self.now_ms)

    def note_failure(self, state: str, why: str, next_try_ms: int | None) -> None:
        """The bus did not answer, or refused us altogether."""
        if self.status.state == state:
            tries = self.status.tries + 1
            self.status = replace(self.status, why=why, tries=tries, next_try_ms=next_try_ms)
        else:
            since = self.last_ms or self.now_ms
            self.status = Status(state, since, why, 1, next_try_ms)


def no_right(refused: Sequence[str]) -> str:
    """Which commands the access list would have to allow for a verb; empty where none lack."""
    return f"The server's access list refuses {', '.join(refused)}." if refused else ""


def _stand(
    kept: dict[bytes, Stand], queue: bytes, value: object, at_ms: int, completed: int | None
) -> None:
    known = kept.get(queue)
    if value is None:
        kept.pop(queue, None)
    elif known is None or known.value != value:
        kept[queue] = Stand(value, at_ms, completed)


Scenes = Mapping[str, Scene]
