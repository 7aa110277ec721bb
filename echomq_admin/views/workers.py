"""Workers: who serves the queue, heard of when, with how much in hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from echomq_admin.charts.dots import marks
from echomq_admin.live.page import Page, Shaped, Watch
from echomq_admin.live.scene import Scene
from echomq_admin.views.listing import trouble
from echomq_admin.views.show import show
from queue_core import keys
from queue_core.errors import EchoMQError
from queue_core.plans import Plan
from queue_core.reads import presence
from queue_core.reads.presence import Crew, Presence

SLOTS = 12
"""Up to this concurrency a worker's slots are drawn one by one."""


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker as the table shows it; a number is None where it did not say."""

    seen: Presence
    stale: bool
    filled: str
    free: str
    width: int

    @property
    def expired(self) -> bool:
        """Whether what it said of itself has run out, so that only its name is left."""
        return not self.seen.said


def _row(worker: Presence, now_ms: int) -> WorkerRow:
    slots, busy = worker.concurrency, worker.in_hand
    drawn = slots is not None and slots <= SLOTS
    filled = min(busy or 0, slots or 0) if drawn else 0
    return WorkerRow(
        seen=worker,
        stale=worker.stale(now_ms),
        filled=marks(range(filled), 11),
        free=marks(range(filled, slots or 0) if drawn else range(0), 11),
        width=11 * (slots or 0) if drawn else 0,
    )


def _look(watch: Watch, _scene: Scene) -> Sequence[Plan[Any]]:
    return (presence.workers(keys.found(watch.queue)),)


def _shape(_watch: Watch, _scene: Scene, results: Sequence[Any | EchoMQError]) -> Shaped:
    seen = results[0]
    if isinstance(seen, EchoMQError):
        return Shaped({"crew_trouble": trouble(seen)}, complete=False, why=str(seen))
    crew: Crew = seen.value
    context = {
        "crew": crew,
        "rows": [_row(worker, seen.at_ms) for worker in crew.workers],
        "left_out": crew.total - len(crew.workers),
        "waits": crew.percentiles("wait"),
        "runs": crew.percentiles("run"),
    }
    return Shaped(context, at_ms=seen.at_ms, complete=seen.complete, why=seen.why)


WORKERS = Page(
    name="workers",
    title="Workers",
    reading="The score is the last heartbeat, by the clock of the bus.",
    panels={
        "crew": "echomq_admin/workers/crew.html",
        "percentiles": "echomq_admin/workers/percentiles.html",
    },
    look=_look,
    shape=_shape,
)


@require_safe
def workers(request: HttpRequest, bus: str, queue: bytes) -> HttpResponse:
    """Who serves the queue."""
    return show(request, WORKERS, bus, queue)
