"""What a worker says of itself on the bus: that it lives, what it holds, how long jobs took.

Keys of our own (docs/wire.md): a registry of heartbeats and one hash a worker, which expires by
itself where the worker was killed.
"""

from __future__ import annotations

import os
import platform
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys
from queue_core.plans import Plan
from queue_core.scripts import script

TTL_MS = 60_000
"""How long a worker's words outlive its last heartbeat."""

_HEARTBEAT = script("worker_heartbeat")
_LEAVE = script("worker_leave")


_named: Counter[tuple[bytes, bytes]] = Counter()
"""How many of this process have asked for a name at a queue."""
_naming = threading.Lock()


def worker_id(name: str = "", queues: Iterable[bytes] = ()) -> bytes:
    """A name for one worker, of host, process and `name`; the registry's member. The second one
    that this process so names for one of `queues` has a number behind it, since they would speak
    of each other's jobs, and leave for each other."""
    if not isinstance(name, str):
        raise InvalidError(f"a worker's label is text, got {name!r}")
    parts = [platform.node() or "host", str(os.getpid()), *([name] if name else [])]
    raw = ".".join(parts).replace(":", "_").encode(errors="replace")[:200]
    served = list(queues)
    with _naming:
        nth = 1 + max((_named[at, raw] for at in served), default=0)
        while any(_named[at, _numbered(raw, nth)] for at in served):
            nth += 1  # a label may look like the number of another
        own = _numbered(raw, nth)
        for at in served:
            _named[at, raw], _named[at, own] = nth, max(1, _named[at, own])
    return own


def _numbered(raw: bytes, nth: int) -> bytes:
    return raw if nth == 1 else b"%s.%d" % (raw, nth)


def engine_version() -> str:
    """The version of the package that runs, "tree" where it is not installed."""
    for package in ("echomq-admin", "queue-core"):
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return "tree"


@dataclass
class Histogram:
    """Cumulative counts by powers of two: bucket k holds spans of at most 2**k ms and more than
    half of that."""

    counts: Counter[int] = field(default_factory=Counter)

    def add(self, ms: float) -> None:
        """Count one span; a negative one, of two clocks that disagree, is left out."""
        if ms >= 0:
            self.counts[max(0, int(ms) - 1).bit_length() if ms > 1 else 0] += 1


class Presence:
    """One worker of one queue. Its histograms may be fed from any thread."""

    def __init__(self, q: QueueKeys, worker: bytes, concurrency: int) -> None:
        self._q = q
        self.worker = worker
        self._fixed: tuple[bytes | str | int, ...] = (
            *("host", platform.node(), "pid", os.getpid()),
            *("version", engine_version(), "concurrency", concurrency),
        )
        self._lock = threading.Lock()
        self._spans = {"wait": Histogram(), "run": Histogram()}

    def ran(self, wait_ms: float | None, run_ms: float) -> None:
        """Count a job: how long it waited to be claimed, None where nobody can know, and ran."""
        with self._lock:
            if wait_ms is not None:
                self._spans["wait"].add(wait_ms)
            self._spans["run"].add(run_ms)

    def heartbeat(self, in_hand: int, quiet: bool) -> Plan[int]:
        """Say it; answers the server's clock in ms."""
        words: list[bytes | str | int] = [*self._fixed, "in_hand", in_hand, "quiet", int(quiet)]
        with self._lock:
            for name, spans in self._spans.items():
                for bucket, count in spans.counts.items():
                    words += (f"{name}:{bucket}", count)
        reply = yield _HEARTBEAT.call(
            (self._q.workers, self._q.worker(self.worker)),
            self._q.base,
            self.worker,
            TTL_MS,
            *words,
        )
        now: int = reply[1]
        return now

    def leave(self) -> Plan[None]:
        """Take the words back, at an orderly end."""
        yield _LEAVE.call((self._q.workers, self._q.worker(self.worker)), self._q.base, self.worker)
